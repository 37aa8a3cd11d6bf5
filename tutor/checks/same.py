"""`same` and `different`: several answers of the learner's code agree, or do not."""

from itertools import combinations
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr, Tolerance
from tutor.checks.compare import compare, words
from tutor.tree import Tree, TreeError, items, leaves


class Same(Check, frozen=True, kw_only=True):
    """All expressions have the same value."""

    kind: ClassVar[str] = "same"
    inside: ClassVar[str] = "tutor.checks.inside.each"
    default_cases: ClassVar[int] = 2

    same: Annotated[tuple[JaxExpr, ...], Meta(min_length=2, description="What must agree.")]
    tol: Tolerance | None = None

    @property
    def expression(self) -> str:
        return ", ".join(self.same)

    def observe(self) -> dict[str, Any]:
        return {"expressions": self.same}

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        values = _each(seen, self.same)
        for text, value in zip(self.same, values, strict=True):
            if at := _nan(value):
                return Finding(f"`{_line(text)}` is NaN at {at}")
        for text, value in zip(self.same[1:], values[1:], strict=True):
            if mismatch := compare(values[0], value, self.tol):
                return Finding(
                    f"`{_line(text)}` is not `{_line(self.same[0])}`: {words(mismatch)}", mismatch
                )
        return None


class Different(Check, frozen=True, kw_only=True):
    """No two expressions have the same value."""

    kind: ClassVar[str] = "different"
    inside: ClassVar[str] = "tutor.checks.inside.each"
    default_cases: ClassVar[int] = 1

    different: Annotated[tuple[JaxExpr, ...], Meta(min_length=2, description="What must differ.")]

    @property
    def expression(self) -> str:
        return ", ".join(self.different)

    def observe(self) -> dict[str, Any]:
        return {"expressions": self.different}

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        pairs = combinations(zip(self.different, _each(seen, self.different), strict=True), 2)
        for (text, value), (other_text, other) in pairs:
            mismatch = compare(value, other, 0.0)
            if mismatch is None:
                return Finding(f"`{_line(text)}` and `{_line(other_text)}` are the same")
            if mismatch.kind not in ("value", "nan"):  # then it says nothing that they differ
                return Finding(
                    f"`{_line(other_text)}` is of another form than `{_line(text)}`: "
                    f"{words(mismatch)}",
                    mismatch,
                )
        return None


def _each(seen: Tree, expressions: tuple[str, ...]) -> list[Tree]:
    values = items(seen)
    if len(values) != len(expressions):
        raise TreeError(f"expected {len(expressions)} values, found {len(values)}")
    return values


def _nan(value: Tree) -> str:
    """Where there is one, which is the same as nothing."""
    import numpy as np

    for path, leaf in leaves(value):
        # bfloat16 is of no kind that NumPy knows, but isnan knows it.
        if leaf.array is not None and leaf.type != "key" and leaf.values.dtype.kind not in "biu":
            found = np.argwhere(np.isnan(leaf.values))
            if len(found):
                return f"{path}{found[0].tolist()}"
    return ""


def _line(text: str) -> str:
    return " ".join(text.split())[:100]
