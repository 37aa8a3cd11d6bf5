"""The answer is something that it should not be the same as."""

from tutor.explain.causes.comparison import Comparison, Fields, Pair, everywhere


def zero(comparison: Comparison) -> Fields | None:
    """It is zero throughout."""
    return everywhere(comparison, lambda pair: not pair.actual.any())


def rows(comparison: Comparison) -> Fields | None:
    """Every row is the same, and was expected not to be."""
    return everywhere(comparison, _rows)


def _rows(pair: Pair) -> bool:
    import numpy as np

    if pair.actual.ndim < 2 or len(pair.actual) < 2 or not np.isfinite(pair.actual).all():
        return False
    # All numbers being one number is something else, and so are rows that should agree.
    return bool(
        np.ptp(pair.actual) > 0
        and not pair.fits(pair.expected, np.broadcast_to(pair.expected[:1], pair.expected.shape))
        and pair.fits(pair.actual, np.broadcast_to(pair.actual[:1], pair.actual.shape))
    )


def an_input(comparison: Comparison) -> Fields | None:
    """It is one of the inputs, unchanged."""
    import numpy as np

    names = []
    arrays = comparison.arrays()
    for pair in comparison.pairs:
        if not np.ptp(pair.actual):
            return None
        name = next((n for n, array in arrays if np.array_equal(array, pair.actual)), None)
        if name is None:
            return None
        names.append(name)
    return {"input": names[0]} if names else None


def not_a_number(comparison: Comparison) -> Fields | None:
    """It is NaN where a number was expected."""
    import numpy as np

    if comparison.mismatch.kind != "nan":
        return None
    wrong = sum(int(np.isnan(p.actual).sum()) for p in comparison.pairs)
    total = sum(p.actual.size for p in comparison.pairs)
    return {"wrong": str(wrong), "total": str(total)}
