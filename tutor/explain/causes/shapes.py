"""Causes: the answer has another shape or structure than expected, and the numbers show why."""

from collections.abc import Callable, Iterator
from itertools import permutations

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields
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
    return _shape(comparison, lambda pair: {} if _order(pair) else None)


def axis_at_the_front(comparison: Comparison) -> Fields | None:
    """Recognise the expected result with one axis moved to the front."""
    return _shape(comparison, _axis_at_the_front)


def _axis_at_the_front(pair: ArrayPair) -> Fields | None:
    order = _order(pair)
    if order is None or [*order[1:]] != sorted(order[1:]):
        return None
    return {"axis": str(order[0])}


def first_axes_swapped(comparison: Comparison) -> Fields | None:
    """Recognise the expected result with its first two axes swapped."""
    return _shape(comparison, lambda pair: {} if (_order(pair) or ())[:2] == (1, 0) else None)


def _order(pair: ArrayPair) -> tuple[int, ...] | None:
    """Return the order of axes in which the expected array is the actual one."""
    actual, expected = pair.actual, pair.expected
    if actual.ndim != expected.ndim or actual.ndim > 4:
        return None
    orders = permutations(range(expected.ndim))
    return next((o for o in orders if pair.fits(actual, expected.transpose(o))), None)


def steps_missing(comparison: Comparison) -> Fields | None:
    """Recognise a result that lacks steps at one end of an axis."""
    return _shape(comparison, _steps_missing)


def _steps_missing(pair: ArrayPair) -> Fields | None:
    long, short = pair.expected, pair.actual
    if long.ndim != short.ndim:
        return None
    axes = [a for a in range(long.ndim) if long.shape[a] != short.shape[a]]
    if len(axes) != 1 or not 0 < short.shape[axes[0]] < long.shape[axes[0]]:
        return None
    (axis,) = axes
    count = long.shape[axis] - short.shape[axis]
    ends = [
        end
        for start, end in ((count, "beginning"), (0, "end"))
        if pair.fits(long.take(range(start, start + short.shape[axis]), axis=axis), short)
    ]
    # Where both fit, the numbers hardly change along the axis, and show nothing.
    return {"axis": str(axis), "count": str(count), "end": ends[0]} if len(ends) == 1 else None


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


def result_missing(comparison: Comparison) -> Fields | None:
    """Recognise a sequence of results from which one is missing."""
    from tutor.checks.compare import compare

    expected, actual = comparison.expected, comparison.actual
    if not isinstance(expected, list | tuple) or not isinstance(actual, list | tuple):
        return None
    if len(actual) != len(expected) - 1 or len(actual) < 2:
        return None
    for number in range(len(expected)):
        if compare([*expected[:number], *expected[number + 1 :]], list(actual)) is None:
            return {"number": str(number), "count": str(len(expected))}
    return None


def names_for_numbers(comparison: Comparison) -> Fields | None:
    """Recognise a dict input's key in place of its value."""
    path = comparison.mismatch.path
    actual = next((child for at, child in _nodes(comparison.actual) if at == path), None)
    for name, tree in comparison.inputs.items():
        if isinstance(actual, str) and isinstance(tree, dict) and actual in tree:
            return {"name": actual, "input": name}
    return None


def _nodes(tree: Tree, path: str = "") -> Iterator[tuple[str, Tree]]:
    """Yield all parts of a tree by path."""
    yield path, tree
    if isinstance(tree, dict):
        for key, child in tree.items():
            yield from _nodes(child, f"{path}[{key!r}]")
    elif isinstance(tree, list | tuple):
        for index, child in enumerate(tree):
            yield from _nodes(child, f"{path}[{index}]")
