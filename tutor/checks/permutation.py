"""`permutation`: the rows of the answer are those of the reference, in another order.

One order is judged by what became of neighbours. In a random order of n rows, the expected number
of sets of k pairs of neighbours that were d rows apart before, counted in a circle, is at most
1 / k!, and so is the chance of k or more such pairs. There are n - 1 distances: for any of them the
chance is at most (n - 1) / k! (`tests/unit/test_shuffles.py` counts all orders of up to 8 rows). A
roll, the reverse and every third row keep nearly all pairs. From 64 rows on, the order's rank
correlation with the original one is tested as well, for rows that hardly moved.
"""

import math
from collections import Counter
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tutor.arrays import Array, np
from tutor.check import Case, Check, Finding, JaxExpr, TorchExpr
from tutor.checks.compare import compare, words
from tutor.checks.dependence import Sample, dependent
from tutor.tree import Leaf, Tree, TreeError, leaves

FALSE_POSITIVE = 1e-9
"""Probability that a random order of rows fails."""


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
        bool,
        Meta(
            description="Whether the rows must be shuffled. If not, they may be in any order, that "
            "of `expect` included."
        ),
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
            regular = self.moved and unshuffled(_order(_rows(right), _rows(actual, right)))
            return Finding(regular) if regular else None
        total = len(_rows(right))
        reason = ""
        if len(right) > 1 and all(
            missing_rows([one], [other]) == 0 for one, other in zip(right, actual, strict=True)
        ):
            reason = ": the arrays are in different orders, so their rows no longer belong together"
        return Finding(f"{missing} of {total} rows are not among those expected{reason}", mismatch)


def unshuffled(order: Array, rate: float = FALSE_POSITIVE) -> str:
    """Return the evidence that an order of n rows, as numbers from 0 to n - 1, is not random; "" if
    there is none."""
    n = len(order)
    if n < 3:
        return ""
    distances = np.bincount(np.diff(order) % n, minlength=n)
    distance = int(np.argmax(distances))
    count = int(distances[distance])
    if (n - 1) / math.factorial(count) < rate / 2:
        apart = min(distance, n - distance)
        return (
            f"the rows are not shuffled: {count} of {n - 1} pairs of neighbours were {apart} "
            f"{'row' if apart == 1 else 'rows'} apart before, counted in a circle"
        )
    if r := dependent(Sample(np.arange(n, dtype=float)), Sample(order.astype(float)), rate / 2):
        return f"the rows are hardly shuffled: their rank correlation with the old order is {r:.3f}"
    return ""


def _order(before: list[bytes], after: list[bytes]) -> Array:
    """Return the order of the rows that occur once, by their old places among each other."""
    counts = Counter(before)
    places = {row: i for i, row in enumerate(row for row in before if counts[row] == 1)}
    return np.array([places[row] for row in after if row in places], np.int64)


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
