"""Causes: the answer is a function of the right one, or the right one a function of the answer."""

from collections.abc import Callable, Iterator
from functools import partial

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers, everywhere
from tutor.explain.causes.positions import nearest_branch

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
        comparison,
        lambda pair: (
            pair.actual.min() >= 0 and _is(_quiet("square", pair.actual), pair.expected, pair)
        ),
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


# --- functions with a name -------------------------------------------------------------------

Function = Callable[[Numbers], Numbers]


def _sigmoid(x: Numbers) -> Numbers:
    import numpy as np

    one: Numbers = 1 / (1 + np.exp(-x))
    return one


def _softmax(x: Numbers, axis: int) -> Numbers:
    import numpy as np

    powers = np.exp(x - x.max(axis, keepdims=True))
    result: Numbers = powers / powers.sum(axis, keepdims=True)
    return result


def _log_softmax(x: Numbers, axis: int) -> Numbers:
    import numpy as np

    return np.log(_softmax(x, axis))


def _gelu(x: Numbers) -> Numbers:
    import numpy as np

    result: Numbers = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return result


def _functions(shape: tuple[int, ...]) -> Iterator[tuple[str, Function]]:
    """Yield functions of arrays of a shape, with what to call the result."""
    import numpy as np

    yield "the `tanh`", np.tanh
    yield "the `sigmoid`", _sigmoid
    yield "the `relu`", partial(np.maximum, 0)
    yield "the `exp`", np.exp
    yield "the `log`", np.log
    yield "the `log1p`", np.log1p
    yield "the `silu`", lambda x: x * _sigmoid(x)
    yield "the `gelu`", _gelu
    yield "the `softplus`", lambda x: np.logaddexp(x, 0)
    yield "the absolute value", np.abs
    yield "the reciprocal", lambda x: 1 / x
    yield "1 minus the value", lambda x: 1 - x
    yield "the sine", np.sin
    yield "the cosine", np.cos
    yield "the rounded value", np.round
    axes = [axis for axis in range(len(shape)) if shape[axis] > 1]
    for axis in reversed(axes):
        yield f"the `softmax` along axis {axis}", partial(_softmax, axis=axis)
        yield f"the `log_softmax` along axis {axis}", partial(_log_softmax, axis=axis)
        yield f"the cumulative sum along axis {axis}", partial(np.cumsum, axis=axis)
        yield f"the sorted values along axis {axis}", partial(np.sort, axis=axis)


def function_too_many(comparison: Comparison) -> Fields | None:
    """Recognise a well-known function of the expected result, other than the branch of a `switch`
    where an input was expected as it is."""
    if nearest_branch(comparison) is not None:
        return None
    return _function(comparison, lambda pair: (pair.expected, pair.actual))


def function_missing(comparison: Comparison) -> Fields | None:
    """Recognise a result of which a well-known function was expected."""
    return _function(comparison, lambda pair: (pair.actual, pair.expected))


def _function(
    comparison: Comparison, sides: Callable[[ArrayPair], tuple[Numbers, Numbers]]
) -> Fields | None:
    found: list[str] = []
    for pair in comparison.pairs:
        before, after = sides(pair)
        names = (
            name
            for name, function in _functions(before.shape)
            if _turns(pair, function, before, after)
        )
        found.append(next(names, ""))
    if not found or not all(one == found[0] != "" for one in found):
        return None
    return {"function": found[0]}


def _turns(pair: ArrayPair, function: Function, before: Numbers, after: Numbers) -> bool:
    """Return whether a function turns one array into another, whose numbers are evidence."""
    import numpy as np

    if before.size < MANY or len(np.unique(before)) < MANY or len(np.unique(after)) < 2:
        return False
    if not np.mod(before, 1).any():
        return False  # too few integers are different
    return pair.fits(function(before), after)
