"""Causes: only certain rows or elements are wrong, and they have something in common."""

from collections.abc import Iterator
from typing import Any

from tutor.arrays import Floats, np
from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields
from tutor.tree import leaves

SEVERAL = 8
"""Floats in an array before comparing each to a threshold is evidence."""


def set_for_add(comparison: Comparison) -> Fields | None:
    """Recognise rows that were set instead of added to: only those named by an index array are
    wrong, and are so if it names them again, or lack an input's row if it names them once."""
    if not comparison.pairs:
        return None
    for name, indices in _indices(comparison):
        if all(
            _wrong_where_repeated(pair, indices) or _added_row_missing(pair, indices, comparison)
            for pair in comparison.pairs
        ):
            return {"input": name}
    return None


def _indices(comparison: Comparison) -> Iterator[tuple[str, Any]]:
    """Yield the vectors of integers among the inputs, with their names."""
    for name, tree in comparison.inputs.items():
        for path, leaf in leaves(tree):
            array = leaf.array
            if array is None or leaf.type == "key" or array.dtype.kind != "i":
                continue
            if array.ndim == 1 and array.size:
                yield f"{name}{path}", array


def _wrong_where_repeated(pair: ArrayPair, indices: Any) -> bool:
    found, counts = np.unique(indices, return_counts=True)
    n = len(pair.expected) if pair.expected.ndim else 0
    if not n or (counts == 1).all() or indices.min() < 0 or indices.max() >= n:
        return False
    wrong = np.flatnonzero(pair.wrong.reshape(n, -1).any(axis=1))
    return len(wrong) < n and bool(np.array_equal(wrong, found[counts > 1]))


def _added_row_missing(pair: ArrayPair, indices: Any, comparison: Comparison) -> bool:
    found, counts = np.unique(indices, return_counts=True)
    n = len(pair.expected) if pair.expected.ndim else 0
    if not n or found.min() < 0 or found.max() >= n or not (counts == 1).any():
        return False
    if pair.wrong[~np.isin(np.arange(n), found)].any():
        return False
    once, missing = found[counts == 1], pair.expected - pair.actual
    same = (array for _, array in comparison.arrays() if array.shape == pair.expected.shape)
    return any(array[once].any() and pair.fits(missing[once], array[once]) for array in same)


def wrong_where(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong exactly in the rows or elements that a mask or a length
    among the inputs selects or leaves out."""
    for name, array in comparison.arrays():
        for mask, value in (*_masks(comparison, array), *_thresholds(comparison, array)):
            if comparison.pairs and all(_exactly(pair, mask) for pair in comparison.pairs):
                return {"input": name, "value": value}
    return None


def _masks(comparison: Comparison, array: Floats) -> Iterator[tuple[Any, str]]:
    """Yield the masks that a Boolean array, labels or lengths make, with what they select."""
    if array.size < 2 or np.mod(array, 1).any():
        return
    low, high = array.min(), array.max()
    if (low, high) == (0, 1) and array.size > 3:
        yield array != 0, "is true"
        yield array == 0, "is false"
    elif low < 0 <= high and array.size > 3:
        yield array < 0, "is negative"
        yield array >= 0, "is not negative"
    elif low >= 0 and array.ndim == 1:
        for size in sorted({n for pair in comparison.pairs for n in pair.expected.shape[1:2]}):
            beyond = np.arange(size) >= array[:, None]
            yield beyond, "ends before them"
            yield ~beyond, "reaches them"
        if array.size > 2:
            yield array < high, "is below its largest"


def _thresholds(comparison: Comparison, array: Floats) -> Iterator[tuple[Any, str]]:
    """Yield the masks that comparing an input to zero, or to a scalar input, makes."""
    shapes = {pair.expected.shape for pair in comparison.pairs}
    if array.shape not in shapes or array.size < SEVERAL or not np.mod(array, 1).any():
        return
    found = [(array < 0, "is negative"), (array > 0, "is positive")]
    for name, number in comparison.scalars():
        found += [
            (array > number, f"is greater than `{name}`"),
            (array < -number, f"is less than -`{name}`"),
            (np.abs(array) > number, f"is greater in size than `{name}`"),
            (np.abs(array) <= number, f"is at most `{name}` in size"),
        ]
    yield from ((mask, value) for mask, value in found if 1 < mask.sum() < mask.size - 1)


def _exactly(pair: ArrayPair, mask: Any) -> bool:
    """Return whether a mask, whose shape is the beginning or the end of that of an array, marks the
    rows that are wrong, and the others are right by more than chance."""
    wrong = pair.wrong
    right = pair.expected[~wrong]
    # Zeros and small integers are often right, and so is padding.
    if len(np.unique(right[np.mod(right, 1) != 0])) < 2:
        return False
    if mask.all() or not mask.any() or mask.ndim > wrong.ndim:
        return False
    if wrong.shape[: mask.ndim] == mask.shape:
        rows = wrong.reshape(*mask.shape, -1).any(axis=-1)
        return bool(np.array_equal(rows, mask))
    if wrong.shape[wrong.ndim - mask.ndim :] == mask.shape:
        return bool(np.array_equal(wrong.reshape(-1, *mask.shape).any(axis=0), mask))
    return False
