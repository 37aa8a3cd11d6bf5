"""`permutation`: the rows of the answer are those that the PyTorch gives, in any order."""

from collections import Counter
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.check import Case, Check, Finding, JaxExpr, TorchExpr
from tutor.checks.compare import compare, words
from tutor.tree import Leaf, Tree, leaves


class Permutation(Check, frozen=True, kw_only=True):
    """The answer has the structure and shapes of `expect`, and its rows are the same, in another
    order. Row i of all arrays belongs together: examples keep their labels."""

    kind: ClassVar[str] = "permutation"
    inside: ClassVar[str] = "tutor.checks.inside.value"
    default_cases: ClassVar[int] = 2

    permutation: Annotated[JaxExpr, Meta(description="What the learner's code is asked for.")]
    expect: Annotated[
        TorchExpr | None,
        Meta(description="The rows, asked of the PyTorch; the same text if left out."),
    ] = None
    moved: Annotated[
        bool, Meta(description="Whether the order must be another one than that of `expect`.")
    ] = True

    def observe(self) -> dict[str, Any]:
        return {"expression": self.permutation}

    def refer(self) -> dict[str, Any]:
        return {"expression": self.expect or self.permutation}

    def judge(self, seen: Tree, expected: Tree | None, case: Case) -> Finding | None:
        mismatch = compare(expected, seen, 0.0)
        if mismatch is None:
            return Finding("the rows are still in their order") if self.moved else None
        if mismatch.kind not in ("value", "nan"):
            return Finding(words(mismatch), mismatch)
        wanted = [leaf for _, leaf in sorted(leaves(expected), key=lambda pair: pair[0])]
        found = [leaf for _, leaf in sorted(leaves(seen), key=lambda pair: pair[0])]
        if (missing := missing_rows(wanted, found)) == 0:
            return None
        total = len(wanted[0].values)
        apart = ""
        if len(wanted) > 1 and all(
            missing_rows([one], [other]) == 0 for one, other in zip(wanted, found, strict=True)
        ):
            apart = ": each array has its own order, so the rows do not belong together any more"
        return Finding(f"{missing} of {total} rows are not among those expected{apart}", mismatch)


def missing_rows(expected: list[Leaf], actual: list[Leaf]) -> int:
    """Return how many rows of `actual` are not those of `expected`, whatever their order. Row i of
    all arrays counts as one; arrays must have the same shapes and at least one axis."""
    wanted, found = Counter(_rows(expected)), Counter(_rows(actual, expected))
    return sum((found - wanted).values())


def _rows(arrays: list[Leaf], like: list[Leaf] | None = None) -> list[bytes]:
    """Each row of all arrays as bytes, in the dtypes of `like`."""
    import numpy as np

    columns = []
    for leaf, other in zip(arrays, like or arrays, strict=True):
        values = np.atleast_1d(leaf.values).astype(other.values.dtype) + 0  # no negative zeros
        columns.append(np.ascontiguousarray(values))
    return [b"".join(column[i].tobytes() for column in columns) for i in range(len(columns[0]))]
