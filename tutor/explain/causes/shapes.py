"""Causes: the answer has the wrong shape, and its numbers show why."""

from collections.abc import Callable
from itertools import permutations

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers
from tutor.tree import Leaf, Tree


def _shape(comparison: Comparison, find: Callable[[ArrayPair], Fields | None]) -> Fields | None:
    """Return what `find` returns for the first arrays of different shapes, with their shapes."""
    if comparison.mismatch.kind != "shape" or (pair := comparison.other) is None:
        return None
    found = find(pair)
    if found is None:
        return None
    shapes = {"shape": str(pair.actual.shape), "expected_shape": str(pair.expected.shape)}
    return shapes | found


def axes_swapped(comparison: Comparison) -> Fields | None:
    """Recognise the expected result with its axes permuted."""
    return _shape(comparison, _axes_swapped)


def _axes_swapped(pair: ArrayPair) -> Fields | None:
    actual, expected = pair.actual, pair.expected
    if actual.ndim != expected.ndim or actual.ndim > 4:
        return None
    for order in permutations(range(expected.ndim)):
        if pair.fits(actual, expected.transpose(order)):
            return {"order": str(order)}
    return None


def one_each(comparison: Comparison) -> Fields | None:
    """Recognise a result that is not reduced: its mean or sum was expected."""
    return _shape(comparison, _one_each)


def _one_each(pair: ArrayPair) -> Fields | None:
    return _reduced(pair, pair.actual, pair.expected)


def reduced(comparison: Comparison) -> Fields | None:
    """Recognise the mean or sum of the expected result."""
    return _shape(comparison, lambda pair: _reduced(pair, pair.expected, pair.actual))


def _reduced(pair: ArrayPair, long: Numbers, short: Numbers) -> Fields | None:
    """Return the reduction, and its axis, that turns `long` into `short`."""
    for how in ("mean", "sum"):
        for axis in range(long.ndim):
            if long.shape[axis] > 1 and pair.fits(getattr(long, how)(axis=axis), short):
                return {"how": how, "axis": str(axis), "count": str(long.shape[axis])}
        if long.ndim > 1 and pair.fits(getattr(long, how)(), short):
            return {"how": how, "axis": "every axis", "count": str(long.size)}
    return None


def copies(comparison: Comparison) -> Fields | None:
    """Recognise one copy of the expected result per device."""
    return _shape(comparison, lambda pair: _copies(pair, comparison.devices))


def _copies(pair: ArrayPair, devices: int) -> Fields | None:
    import numpy as np

    if devices < 2 or pair.actual.shape != (devices, *pair.expected.shape):
        return None
    all_the_same = pair.fits(pair.actual, np.broadcast_to(pair.expected, pair.actual.shape))
    return {"devices": str(devices)} if all_the_same else None


def axis_of_one(comparison: Comparison) -> Fields | None:
    """Recognise the right numbers with an axis of length 1 too many or too few."""
    return _shape(comparison, _axis_of_one)


def _axis_of_one(pair: ArrayPair) -> Fields | None:
    actual, expected = pair.actual, pair.expected
    if actual.ndim == expected.ndim or not pair.fits(actual.squeeze(), expected.squeeze()):
        return None
    return {"how": "too many" if actual.ndim > expected.ndim else "too few"}


def laid_out(comparison: Comparison) -> Fields | None:
    """Recognise the expected result reshaped."""
    return _shape(comparison, _laid_out)


def _laid_out(pair: ArrayPair) -> Fields | None:
    if pair.actual.size != pair.expected.size or pair.actual.ndim == pair.expected.ndim == 1:
        return None
    return {} if pair.fits(pair.actual.ravel(), pair.expected.ravel()) else None


def every_pair(comparison: Comparison) -> Fields | None:
    """Recognise a matrix of all pairs whose diagonal was expected."""
    return _shape(comparison, _every_pair)


def _every_pair(pair: ArrayPair) -> Fields | None:
    import numpy as np

    n = len(pair.expected) if pair.expected.ndim == 1 else 0
    if n < 2 or pair.actual.shape != (n, n):
        return None
    return {"count": str(n)} if pair.fits(np.diagonal(pair.actual), pair.expected) else None


def blocks(comparison: Comparison) -> Fields | None:
    """Recognise a Jacobian over all pairs of examples in place of one Jacobian per example."""
    return _shape(comparison, _blocks)


def _blocks(pair: ArrayPair) -> Fields | None:
    import numpy as np

    if pair.expected.ndim != 3 or pair.actual.ndim != 4:
        return None
    n, out, in_ = pair.expected.shape
    if pair.actual.shape != (n, out, n, in_):
        return None
    diagonal = np.stack([pair.actual[i, :, i] for i in range(n)])
    return {"count": str(n)} if pair.fits(diagonal, pair.expected) else None


def one_of_many(comparison: Comparison) -> Fields | None:
    """Recognise one row of the expected result."""
    return _shape(comparison, _one_of_many)


def _one_of_many(pair: ArrayPair) -> Fields | None:
    if pair.actual.shape != pair.expected.shape[1:] or len(pair.expected) < 2:
        return None
    for row, numbers in enumerate(pair.expected):
        if pair.fits(pair.actual, numbers):
            return {"row": str(row), "count": str(len(pair.expected))}
    return None


def of_another_input(comparison: Comparison) -> Fields | None:
    """Recognise the shape or structure of the wrong input: a gradient with respect to the wrong
    argument, say."""
    if comparison.mismatch.kind not in ("shape", "structure"):
        return None
    expected, actual = _shapes(comparison.expected), _shapes(comparison.actual)
    if comparison.mismatch.kind == "shape" and comparison.other is not None:
        expected, actual = comparison.other.expected.shape, comparison.other.actual.shape
    forms: list[tuple[str, object]] = [(n, array.shape) for n, array in comparison.arrays()]
    forms += [(n, _shapes(tree)) for n, tree in comparison.inputs.items() if isinstance(tree, dict)]
    like = [name for name, form in forms if form == actual]
    wanted = [name for name, form in forms if form == expected]
    if len(like) != 1 or len(wanted) != 1 or actual in ((), {}):
        return None
    return {"input": like[0], "expected_input": wanted[0]}


def _shapes(tree: Tree) -> object:
    """Return the tree with each array replaced by its shape."""
    if isinstance(tree, dict):
        return {key: _shapes(child) for key, child in tree.items()}
    if isinstance(tree, list | tuple):
        return [_shapes(child) for child in tree]
    return tree.array.shape if isinstance(tree, Leaf) and tree.array is not None else str(tree)


def slice_of_the_result(comparison: Comparison) -> Fields | None:
    """Recognise a result that lacks steps at one end of an axis."""
    return _shape(comparison, lambda pair: _slice(pair, pair.expected, pair.actual))


def slice_is_the_result(comparison: Comparison) -> Fields | None:
    """Recognise a result with more steps at one end of an axis than expected."""
    return _shape(comparison, lambda pair: _slice(pair, pair.actual, pair.expected))


def _slice(pair: ArrayPair, long: Numbers, short: Numbers) -> Fields | None:
    if long.ndim != short.ndim:
        return None
    axes = [a for a in range(long.ndim) if long.shape[a] != short.shape[a]]
    if len(axes) != 1 or not 0 < short.shape[axes[0]] < long.shape[axes[0]]:
        return None
    (axis,) = axes
    count = long.shape[axis] - short.shape[axis]
    for start, end in ((count, "beginning"), (0, "end")):
        part = long.take(range(start, start + short.shape[axis]), axis=axis)
        if pair.fits(part, short):
            return {"axis": str(axis), "count": str(count), "end": end}
    return None


def another_length(comparison: Comparison) -> Fields | None:
    """Recognise a result whose only differing axis has the length of something else in the
    inputs."""
    return _shape(comparison, lambda pair: _another_length(pair, comparison.counts()))


def _another_length(pair: ArrayPair, counts: dict[int, str]) -> Fields | None:
    ours, theirs = pair.actual.shape, pair.expected.shape
    axes = [a for a in range(len(theirs)) if len(ours) == len(theirs) and ours[a] != theirs[a]]
    if len(axes) != 1:
        return None
    one, other = ours[axes[0]], theirs[axes[0]]
    if one not in counts or other not in counts:
        return None
    return {
        "axis": str(axes[0]), "length": str(one), "size": counts[one],
        "expected_length": str(other), "expected_size": counts[other],
    }  # fmt: skip


def larger(comparison: Comparison) -> Fields | None:
    """Recognise axes longer than expected and none shorter: wrong padding or stride, say."""
    return _shape(comparison, lambda pair: _longer(pair.actual, pair.expected))


def _longer(one: Numbers, other: Numbers) -> Fields | None:
    import numpy as np

    if one.ndim != other.ndim or one.ndim < 3:
        return None
    return {} if (np.array(one.shape) >= np.array(other.shape)).all() else None


def padded(comparison: Comparison) -> Fields | None:
    """Recognise the right numbers with more zeros around them."""
    return _shape(comparison, _padded)


def _padded(pair: ArrayPair) -> Fields | None:
    import numpy as np

    actual, expected = pair.actual, pair.expected
    if actual.ndim != expected.ndim or np.count_nonzero(actual) != np.count_nonzero(expected):
        return None
    one, two = actual[actual != 0], expected[expected != 0]
    return {} if actual.size > expected.size and pair.fits(one, two) else None
