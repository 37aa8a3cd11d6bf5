"""Causes: the answer is constant, an input, not finite, or otherwise of a telling form."""

from typing import Any

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, everywhere
from tutor.tree import Leaf, Tree, leaves


def zero(comparison: Comparison) -> Fields | None:
    """Recognise a result that is zero everywhere."""
    return everywhere(comparison, lambda pair: not pair.actual.any())


def rows(comparison: Comparison) -> Fields | None:
    """Recognise identical rows that should differ."""
    return everywhere(comparison, _rows)


def _rows(pair: ArrayPair) -> bool:
    import numpy as np

    if pair.actual.ndim < 2 or len(pair.actual) < 2 or not np.isfinite(pair.actual).all():
        return False
    # A constant array is a different mistake, and some rows should agree.
    return bool(
        np.ptp(pair.actual) > 0
        and not pair.fits(pair.expected, np.broadcast_to(pair.expected[:1], pair.expected.shape))
        and pair.fits(pair.actual, np.broadcast_to(pair.actual[:1], pair.actual.shape))
    )


def an_input(comparison: Comparison) -> Fields | None:
    """Recognise an input returned unchanged; of several wrong arrays, not one that was expected to
    be a little smaller in all its numbers, which lacks its decay only."""
    import numpy as np

    names = []
    arrays = comparison.arrays()
    for pair in comparison.pairs:
        if not np.ptp(pair.actual):
            return None
        if comparison.others and _decayed(pair.expected, pair.actual):
            return None
        name = next((n for n, array in arrays if np.array_equal(array, pair.actual)), None)
        if name is None:
            return None
        names.append(name)
    return {"input": names[0]} if names else None


def _decayed(one: Numbers, other: Numbers) -> bool:
    """Return whether an array is a little less than 1 times another."""
    import numpy as np

    size = float((other * other).sum())
    ratio = float((one * other).sum()) / size if size else 0.0
    return 0.5 < ratio < 1 and bool(np.abs(one - ratio * other).max() <= 1e-5 * np.abs(other).max())


def not_a_number(comparison: Comparison) -> Fields | None:
    """Recognise NaN in place of numbers."""
    import numpy as np

    if comparison.mismatch.kind != "nan":
        return None
    wrong = sum(int(np.isnan(p.actual).sum()) for p in comparison.pairs)
    total = sum(p.actual.size for p in comparison.pairs)
    return {"wrong": str(wrong), "total": str(total)}


def results_alike(comparison: Comparison) -> Fields | None:
    """Recognise several identical results that should differ."""
    import numpy as np

    expected, actual = comparison.expected, comparison.actual
    if not isinstance(actual, list | tuple) or not isinstance(expected, list | tuple):
        return None
    found, wanted = (
        [one.array for one in side if isinstance(one, Leaf)] for side in (actual, expected)
    )
    if len(found) < 2 or len(found) != len(actual) or len(wanted) != len(found):
        return None

    def alike(arrays: list[Any]) -> bool:
        return all(one is not None and np.array_equal(one, arrays[0]) for one in arrays)

    return {"count": str(len(found))} if alike(found) and not alike(wanted) else None


def number_for_nan(comparison: Comparison) -> Fields | None:
    """Recognise a result that is right except for finite numbers in place of NaN."""
    import numpy as np

    def holds(pair: ArrayPair) -> bool:
        nan = np.isnan(pair.expected)
        rest = np.abs(pair.actual - pair.expected)[~nan].max(initial=0.0)
        return bool(nan.any() and np.isfinite(pair.actual).all() and rest <= 1e-4)

    return everywhere(comparison, holds)


def infinite(comparison: Comparison) -> Fields | None:
    """Recognise infinities in place of finite numbers."""
    import numpy as np

    return everywhere(
        comparison,
        lambda pair: bool(np.isinf(pair.actual).any() and np.isfinite(pair.expected).all()),
    )


def saturated(comparison: Comparison) -> Fields | None:
    """Recognise the largest or smallest int32 in place of another number."""
    import numpy as np

    def holds(pair: ArrayPair) -> bool:
        ends = np.isin(pair.actual, [2.0**31 - 1, -(2.0**31)])
        return bool((ends & (pair.actual != pair.expected)).any())

    return everywhere(comparison, holds)


def wrapped(comparison: Comparison) -> Fields | None:
    """Recognise integer overflow: integers off by multiples of 2**8, 2**16 or 2**32."""
    import numpy as np

    for bits in (32, 16, 8):  # a multiple of 2**32 is one of 2**8 as well
        if comparison.pairs and all(
            pair.fits(np.mod(pair.expected, 2**bits), np.mod(pair.actual, 2**bits))
            and not np.mod(pair.actual - pair.expected, 2**bits).any()
            and not np.mod(pair.actual, 1).any()
            for pair in comparison.pairs
        ):
            return {"bits": str(bits), "number": str(2**bits)}
    return None


def clipped_at_zero(comparison: Comparison) -> Fields | None:
    """Recognise the expected result with its negative numbers set to zero."""
    import numpy as np

    return everywhere(
        comparison,
        lambda pair: (
            bool((pair.expected < 0).any())
            and bool((pair.expected > 0).sum() > 1)
            and pair.fits(pair.actual, np.maximum(pair.expected, 0))
        ),
    )


def complement(comparison: Comparison) -> Fields | None:
    """Recognise a result that is zero, false, -inf or a scalar input exactly where it should not
    be."""
    import numpy as np

    constants = [0.0, -np.inf, *(number for _, number in comparison.scalars())]

    def holds(pair: ArrayPair, constant: float) -> bool:
        ours, theirs = (pair.actual != constant), (pair.expected != constant)
        return bool(theirs.sum() > 1 and (~theirs).sum() > 1 and np.array_equal(ours, ~theirs))

    for constant in constants:
        if comparison.pairs and all(holds(pair, constant) for pair in comparison.pairs):
            return {"constant": f"{constant:.4g}"}
    return None


def dropped_out(comparison: Comparison) -> Fields | None:
    """Recognise dropout: some numbers are zero, the others too large by one factor."""
    import numpy as np

    def holds(pair: ArrayPair) -> bool:
        kept = pair.actual != 0
        if kept.all() or kept.sum() < 3 or not pair.expected.all():
            return False
        ratios = pair.actual[kept] / pair.expected[kept]
        return bool(ratios.min() > 1.01 and np.ptp(ratios) <= 1e-3 * ratios.min())

    return everywhere(comparison, holds)


def no_spread(comparison: Comparison) -> Fields | None:
    """Recognise a vector of statistics with a zero that should not be one."""
    import numpy as np

    def holds(pair: ArrayPair) -> bool:
        gone = (np.abs(pair.actual) < 1e-6) & (np.abs(pair.expected) > 0.05)
        return bool(pair.actual.ndim == 1 and gone.any() and (np.abs(pair.actual) > 0.05).any())

    return everywhere(comparison, holds)


def off_centre(comparison: Comparison) -> Fields | None:
    """Recognise a vector of statistics with a nonzero number that should be zero."""
    import numpy as np

    def holds(pair: ArrayPair) -> bool:
        moved = (pair.expected == 0) & (np.abs(pair.actual) > 5 * pair.tolerance)
        return bool(pair.expected.ndim == 1 and moved.any() and pair.expected.any())

    return everywhere(comparison, holds)


def false(comparison: Comparison) -> Fields | None:
    """Recognise a result that is false where it should be true."""

    def booleans(tree: Tree) -> bool:
        arrays = [leaf.array for _, leaf in leaves(tree)]
        return bool(arrays) and all(one is not None and one.dtype.kind == "b" for one in arrays)

    if not booleans(comparison.expected) or not booleans(comparison.actual):
        return None
    return everywhere(comparison, lambda pair: bool((pair.expected > pair.actual).any()))
