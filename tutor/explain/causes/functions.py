"""The answer is a function of the right one."""

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, everywhere

MANY = 3
"""Different numbers that it takes: of 0 and 1 the square is the number itself."""


def _quiet(function: str, numbers: Numbers) -> Numbers:
    import numpy as np

    with np.errstate(all="ignore"):
        result: Numbers = getattr(np, function)(numbers)
    return result


def _is(one: Numbers, other: Numbers, pair: ArrayPair) -> bool:
    # Of 2 the square is 4, which is much else besides.
    alone = pair.expected.size == 1 and not float(pair.expected.flat[0]).is_integer()
    return bool((pair.distinct >= MANY or alone) and pair.fits(one, other))


def square(comparison: Comparison) -> Fields | None:
    """It is the square of what was expected."""
    return everywhere(
        comparison, lambda pair: _is(pair.actual, _quiet("square", pair.expected), pair)
    )


def root(comparison: Comparison) -> Fields | None:
    """Its square was expected."""
    return everywhere(
        comparison, lambda pair: _is(_quiet("square", pair.actual), pair.expected, pair)
    )


def logarithm(comparison: Comparison) -> Fields | None:
    """It is the logarithm of what was expected."""
    return everywhere(comparison, lambda pair: _is(_quiet("exp", pair.actual), pair.expected, pair))


def exponential(comparison: Comparison) -> Fields | None:
    """Its logarithm was expected."""
    return everywhere(comparison, lambda pair: _is(pair.actual, _quiet("exp", pair.expected), pair))


def other_axis(comparison: Comparison) -> Fields | None:
    """It adds up to 1 (or its exponentials do) along another axis than was expected."""
    found: Fields | None = None
    for pair in comparison.pairs:
        for function in ("positive", "exp"):
            wanted = _sums_to_one(_quiet(function, pair.expected))
            given = _sums_to_one(_quiet(function, pair.actual))
            if len(wanted) == len(given) == 1 and wanted != given:
                found = {"axis": str(given[0]), "expected_axis": str(wanted[0])}
                break
        else:
            return None
    return found


def _sums_to_one(numbers: Numbers) -> list[int]:
    """The axes along which numbers are shares of a whole."""
    import numpy as np

    if numbers.ndim < 2 or not np.isfinite(numbers).all() or numbers.min(initial=0) < 0:
        return []
    return [
        axis
        for axis in range(numbers.ndim)
        if numbers.shape[axis] > 1 and np.allclose(numbers.sum(axis), 1, atol=1e-4)
    ]
