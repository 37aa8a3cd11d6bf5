"""Causes: the answer is a function of the right one."""

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, everywhere

MANY = 3
"""Distinct values required: 0 and 1 equal their own squares."""


def _quiet(function: str, numbers: Numbers) -> Numbers:
    import numpy as np

    with np.errstate(all="ignore"):
        result: Numbers = getattr(np, function)(numbers)
    return result


def _is(one: Numbers, other: Numbers, pair: ArrayPair) -> bool:
    # A single integer would fit by chance: 4 is the square of 2, and also its double.
    alone = pair.expected.size == 1 and not float(pair.expected.flat[0]).is_integer()
    return bool((pair.distinct >= MANY or alone) and pair.fits(one, other))


def square(comparison: Comparison) -> Fields | None:
    """Recognise the square of the expected result."""
    return everywhere(
        comparison, lambda pair: _is(pair.actual, _quiet("square", pair.expected), pair)
    )


def root(comparison: Comparison) -> Fields | None:
    """Recognise the square root of the expected result."""
    return everywhere(
        comparison, lambda pair: _is(_quiet("square", pair.actual), pair.expected, pair)
    )


def logarithm(comparison: Comparison) -> Fields | None:
    """Recognise the logarithm of the expected result."""
    return everywhere(comparison, lambda pair: _is(_quiet("exp", pair.actual), pair.expected, pair))


def exponential(comparison: Comparison) -> Fields | None:
    """Recognise the exponential of the expected result."""
    return everywhere(comparison, lambda pair: _is(pair.actual, _quiet("exp", pair.expected), pair))


def other_axis(comparison: Comparison) -> Fields | None:
    """Recognise a softmax (or log-softmax) along the wrong axis, by where it sums to 1."""
    found: Fields | None = None
    for pair in comparison.pairs:
        for function in ("positive", "exp"):
            expected_axes = _sums_to_one(_quiet(function, pair.expected))
            actual_axes = _sums_to_one(_quiet(function, pair.actual))
            if len(expected_axes) == len(actual_axes) == 1 and expected_axes != actual_axes:
                found = {"axis": str(actual_axes[0]), "expected_axis": str(expected_axes[0])}
                break
        else:
            return None
    return found


def _sums_to_one(numbers: Numbers) -> list[int]:
    """Return the axes along which non-negative numbers sum to 1."""
    import numpy as np

    if numbers.ndim < 2 or not np.isfinite(numbers).all() or numbers.min(initial=0) < 0:
        return []
    return [
        axis
        for axis in range(numbers.ndim)
        if numbers.shape[axis] > 1 and np.allclose(numbers.sum(axis), 1, atol=1e-4)
    ]
