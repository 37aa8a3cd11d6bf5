"""Causes: the answer has the right numbers in the wrong order."""

import re
from collections.abc import Callable
from itertools import permutations

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields
from tutor.tree import Tree

MANY = 4
"""Distinct values required before an order is evidence."""

MAX_RANK = 4


def _common(comparison: Comparison, find: Callable[[ArrayPair], Fields | None]) -> Fields | None:
    """Return the fields if `find` returns the same ones for every pair."""
    found = [find(pair) if pair.distinct >= MANY else None for pair in comparison.pairs]
    return found[0] if found and all(one == found[0] for one in found) else None


def transposed(comparison: Comparison) -> Fields | None:
    """Recognise axes in the wrong order that leave the shape unchanged."""
    return _common(comparison, _transposed)


def _transposed(pair: ArrayPair) -> Fields | None:
    if not 2 <= pair.expected.ndim <= MAX_RANK:
        return None
    for order in permutations(range(pair.expected.ndim)):
        moved = pair.expected.transpose(order)
        if moved.shape == pair.actual.shape and pair.fits(pair.actual, moved):
            return {"order": str(order)}
    return None


def reversed_(comparison: Comparison) -> Fields | None:
    """Recognise a result reversed along one axis."""
    return _common(comparison, _reversed)


def _reversed(pair: ArrayPair) -> Fields | None:
    import numpy as np

    for axis in range(pair.expected.ndim):
        if pair.fits(pair.actual, np.flip(pair.expected, axis)):
            return {"axis": str(axis)}
    return None


def shifted(comparison: Comparison) -> Fields | None:
    """Recognise a result shifted by one step along an axis."""
    return _common(comparison, _shifted)


def _shifted(pair: ArrayPair) -> Fields | None:
    import numpy as np

    for axis in range(pair.expected.ndim):
        if pair.expected.shape[axis] < MANY:
            continue
        actual, expected = np.moveaxis(pair.actual, axis, 0), np.moveaxis(pair.expected, axis, 0)
        for when, one, other in (
            ("late", actual[1:], expected[:-1]),
            ("early", actual[:-1], expected[1:]),
        ):
            if len(np.unique(other)) >= MANY and pair.fits(one, other):
                return {"axis": str(axis), "when": when}
    return None


def reordered(comparison: Comparison) -> Fields | None:
    """Recognise the right numbers in any other order."""
    return _common(comparison, lambda pair: {} if _same_numbers(pair) else None)


def _same_numbers(pair: ArrayPair) -> bool:
    import numpy as np

    return pair.fits(np.sort(pair.actual, axis=None), np.sort(pair.expected, axis=None))


def results_swapped(comparison: Comparison) -> Fields | None:
    """Recognise several results in the wrong order, in the answer or in a part of it."""
    path = comparison.mismatch.path
    expected, actual = comparison.expected, comparison.actual
    for step in ["", *re.findall(r"\[(\d+)\]", path)]:
        if step:
            if not isinstance(expected, list | tuple) or not isinstance(actual, list | tuple):
                return None
            at = int(step)
            if at >= min(len(expected), len(actual)):
                return None
            expected, actual = expected[at], actual[at]
        if (order := _order(expected, actual)) is not None:
            return {"order": order}
    return None


def _order(expected: Tree, actual: Tree) -> str | None:
    """Return the order of `actual` that makes it equal to `expected`."""
    from tutor.checks.compare import compare

    if not isinstance(expected, list | tuple) or not isinstance(actual, list | tuple):
        return None
    if len(expected) != len(actual) or not 2 <= len(expected) <= MAX_RANK:
        return None
    for order in permutations(range(len(expected))):
        moved = [actual[at] for at in order]
        if order != tuple(sorted(order)) and compare(list(expected), moved) is None:
            return ", ".join(str(at) for at in order)
    return None
