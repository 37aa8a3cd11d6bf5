"""`permutation`: the rows of the answer are those of the reference, in any order."""

from collections import Counter
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.arrays import np
from tutor.check import Case, Check, Finding, JaxExpr, TorchExpr
from tutor.checks.compare import compare, words
from tutor.tree import Leaf, Tree, TreeError, leaves


class Permutation(Check, frozen=True, kw_only=True):
    """The answer has the structure and shapes of `expect`, and its rows in another order. Row i of
    all arrays belongs together: examples keep their labels."""

    kind: ClassVar[str] = "permutation"
    inside: ClassVar[str] = "tutor.checks.inside.value"
    default_cases: ClassVar[int] = 2

    permutation: Annotated[
        JaxExpr, Meta(description="Expression to evaluate with the learner's code.")
    ]
    expect: Annotated[
        TorchExpr | None,
        Meta(description="PyTorch expression with the rows; the same text if absent."),
    ] = None
    moved: Annotated[
        bool, Meta(description="Whether the order must differ from that of `expect`.")
    ] = True

    def refer(self) -> dict[str, Any]:
        return {"expression": self.expect or self.permutation}

    def judge(self, observed: Tree, expected: Tree | None, case: Case) -> Finding | None:
        mismatch = compare(expected, observed, 0.0)
        if mismatch is None:
            return Finding("the rows are still in their original order") if self.moved else None
        if mismatch.kind not in ("value", "nan"):
            return Finding(words(mismatch), mismatch)
        right, actual = _sorted_leaves(expected), _sorted_leaves(observed)
        if len(right) != len(actual):
            raise TreeError("the results have different numbers of arrays")
        if (missing := missing_rows(right, actual)) == 0:
            return None
        total = len(_rows(right))
        reason = ""
        if len(right) > 1 and all(
            missing_rows([one], [other]) == 0 for one, other in zip(right, actual, strict=True)
        ):
            reason = ": the arrays are in different orders, so their rows no longer belong together"
        return Finding(f"{missing} of {total} rows are not among those expected{reason}", mismatch)


def _sorted_leaves(tree: Tree) -> list[Leaf]:
    return [leaf for _, leaf in sorted(leaves(tree), key=lambda pair: pair[0])]


def missing_rows(expected: list[Leaf], actual: list[Leaf]) -> int:
    """Return how many rows of `actual` are not in `expected`, in any order. Row i of all arrays
    counts as one; arrays must have the same shapes and at least one axis."""
    return (Counter(_rows(actual, expected)) - Counter(_rows(expected))).total()


def _rows(arrays: list[Leaf], like: list[Leaf] | None = None) -> list[bytes]:
    """Return each row of all arrays as bytes, in the dtypes of `like`."""
    columns = []
    for leaf, other in zip(arrays, like or arrays, strict=True):
        values = np.atleast_1d(leaf.values).astype(other.values.dtype) + 0  # no negative zeros
        columns.append(np.ascontiguousarray(values))
    return [b"".join(column[i].tobytes() for column in columns) for i in range(len(columns[0]))]
