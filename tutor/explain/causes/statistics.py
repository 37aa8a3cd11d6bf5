"""Causes: the answer is a statistic of an input, and another one was expected."""

from collections.abc import Iterator
from typing import Any

from tutor.explain.causes.comparison import Comparison, Fields, Numbers

MAX_SIZE = 1 << 14

HOW = ("mean", "sum", "max", "min", "std", "var", "median", "prod")


def another_statistic(comparison: Comparison) -> Fields | None:
    """Recognise a statistic of an input in place of another: of other entries, along another axis,
    or of another kind."""
    import numpy as np

    found: set[tuple[str, str]] = set()
    for pair in comparison.pairs:
        size = float(np.abs(pair.expected).max(initial=0.0))
        if not size or (pair.expected.size == 1 and float(pair.expected.flat[0]).is_integer()):
            return None
        ours = theirs = ""
        for name, number in _statistics(comparison, pair.expected.shape):
            if not ours and pair.fits(number, pair.actual):
                ours = name
            if not theirs and pair.fits(number, pair.expected):
                theirs = name
        if not ours or not theirs or ours == theirs:
            return None
        found.add((ours, theirs))
    if len(found) != 1:
        return None
    ((ours, theirs),) = found
    return {"statistic": ours, "expected_statistic": theirs}


def _statistics(comparison: Comparison, shape: tuple[int, ...]) -> Iterator[tuple[str, Numbers]]:
    """Yield statistics of a shape with their names, the plainest first."""
    import numpy as np

    arrays = [(n, a) for n, a in comparison.arrays() if 2 < a.size <= MAX_SIZE and np.ptp(a)]
    for name, array in arrays:
        axes = [axis for axis in range(array.ndim) if _without(array.shape, axis) == shape]
        for how in HOW:
            if shape == ():
                yield f"the {how} of `{name}`", np.asarray(getattr(np, how)(array))
            for axis in axes if array.ndim > 1 else ():
                yield f"the {how} of `{name}` along axis {axis}", getattr(np, how)(array, axis=axis)
        if shape != () or array.ndim > 2:
            continue
        for what, some in _parts(comparison, name, array):
            if some.size:
                for how in HOW[:2]:
                    yield f"the {how} of `{name}` {what}", np.asarray(getattr(np, how)(some))


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def _parts(comparison: Comparison, name: str, array: Numbers) -> Iterator[tuple[str, Any]]:
    """Yield the entries of an array that a mask or a length among the inputs selects."""
    import numpy as np

    for other, one in comparison.arrays():
        if other == name:
            continue
        if one.shape == array.shape and set(np.unique(one).tolist()) == {0.0, 1.0}:
            yield f"where `{other}` is true", array[one != 0]
            yield f"where `{other}` is false", array[one == 0]
        elif one.size == 1 and float(one.reshape(())).is_integer():
            n = int(one.reshape(()))
            if array.ndim and 0 < n < len(array):
                yield f"before position `{other}`", array[:n]
                yield f"up to and including position `{other}`", array[: n + 1]
                yield f"from position `{other}` on", array[n:]
                yield f"before position `{other}` - 1", array[: n - 1]
