"""Causes: the answer has the right numbers in other positions."""

from itertools import permutations

from tutor.arrays import np
from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, alike

MANY = 4
"""Distinct values required before an order is evidence."""


def shifted(comparison: Comparison) -> Fields | None:
    """Recognise a result shifted by one step along an axis."""
    return alike(comparison, _shifted)


def _shifted(pair: ArrayPair) -> Fields | None:
    for axis in range(pair.expected.ndim):
        if pair.expected.shape[axis] < MANY:
            continue
        actual, expected = np.moveaxis(pair.actual, axis, 0), np.moveaxis(pair.expected, axis, 0)
        for when, one, other in (
            ("late", actual[1:], expected[:-1]),
            ("early", actual[:-1], expected[1:]),
        ):
            # Numbers that hardly change from one step to the next are the same one step later.
            moves = not pair.fits(expected[1:], expected[:-1])
            if moves and len(np.unique(other)) >= MANY and pair.fits(one, other):
                return {"axis": str(axis), "when": when}
    return None


def reshaped(comparison: Comparison) -> Fields | None:
    """Recognise the right numbers as a reshape gives them of an array whose axes are in another
    order."""
    return alike(comparison, _reshaped)


def _reshaped(pair: ArrayPair) -> Fields | None:
    actual, expected = pair.actual.reshape(-1), pair.expected
    if not 1 < expected.ndim <= 4 or pair.distinct < MANY:
        return None
    orders = permutations(range(expected.ndim))
    return {} if any(pair.fits(actual, expected.transpose(o).reshape(-1)) for o in orders) else None


def reordered(comparison: Comparison) -> Fields | None:
    """Recognise the right numbers in any other order."""
    return alike(comparison, _reordered)


def _reordered(pair: ArrayPair) -> Fields | None:
    same = pair.fits(np.sort(pair.actual, axis=None), np.sort(pair.expected, axis=None))
    return {} if same and pair.distinct >= MANY else None
