"""`same` and `different`: several answers of the learner's code agree, or do not."""

from itertools import combinations
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr, Tolerance
from tutor.checks.compare import compare, words
from tutor.foreign.plain_text import quoted_code
from tutor.tree import Tree, TreeError, items, leaves


class Same(Check, frozen=True, kw_only=True):
    """All expressions have the same value."""

    kind: ClassVar[str] = "same"
    inside: ClassVar[str] = "tutor.checks.inside.each"
    default_cases: ClassVar[int] = 2

    same: Annotated[tuple[JaxExpr, ...], Meta(min_length=2, description="What must agree.")]
    tol: Tolerance | None = None

    def observe(self) -> dict[str, Any]:
        return {"expressions": self.same}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        values = _each(observed, self.same)
        for text, value in zip(self.same, values, strict=True):
            if at := _nan(value):
                return Finding(f"{quoted_code(text)} is NaN at {at}")
        for text, value in zip(self.same[1:], values[1:], strict=True):
            if mismatch := compare(values[0], value, self.tol):
                which = f"{quoted_code(text)} differs from {quoted_code(self.same[0])}"
                return Finding(f"{which}: {words(mismatch)}", mismatch)
        return None


class Different(Check, frozen=True, kw_only=True):
    """No two expressions have the same value."""

    kind: ClassVar[str] = "different"
    inside: ClassVar[str] = "tutor.checks.inside.each"
    default_cases: ClassVar[int] = 1

    different: Annotated[tuple[JaxExpr, ...], Meta(min_length=2, description="What must differ.")]

    def observe(self) -> dict[str, Any]:
        return {"expressions": self.different}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        pairs = combinations(zip(self.different, _each(observed, self.different), strict=True), 2)
        for (text, value), (other_text, other) in pairs:
            mismatch = compare(value, other, 0.0)
            if mismatch is None:
                return Finding(
                    f"{quoted_code(text)} and {quoted_code(other_text)} have the same value"
                )
            if mismatch.kind not in ("value", "nan"):  # other structures differ trivially
                return Finding(
                    f"{quoted_code(other_text)} and {quoted_code(text)} cannot be compared: "
                    f"{words(mismatch)}",
                    mismatch,
                )
        return None


def _each(observed: Tree, expressions: tuple[str, ...]) -> list[Tree]:
    values = items(observed)
    if len(values) != len(expressions):
        raise TreeError(f"expected {len(expressions)} values, found {len(values)}")
    return values


def _nan(value: Tree) -> str:
    """Return the position of a NaN, which equals nothing; "" if there is none."""
    for path, leaf in leaves(value):
        # NumPy's isnan supports bfloat16, although its kind is V.
        if leaf.array is not None and leaf.type != "key" and leaf.values.dtype.kind not in "biu":
            positions = np.argwhere(np.isnan(leaf.values))
            if len(positions):
                return f"{path}{positions[0].tolist()}"
    return ""
