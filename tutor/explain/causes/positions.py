"""Causes: only certain rows or elements are wrong, and they have something in common."""

import re
from collections.abc import Iterator
from typing import Any

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers
from tutor.explain.causes.sameness import an_input
from tutor.tree import leaves


def differing(pair: ArrayPair) -> Any:
    """Return a mask of the elements that differ."""
    import numpy as np

    size = float(np.abs(pair.expected[np.isfinite(pair.expected)]).max(initial=1.0))
    same = np.abs(pair.actual - pair.expected) <= pair.tolerance * size
    return ~(same | (np.isnan(pair.actual) & np.isnan(pair.expected)))


def _integer_inputs(comparison: Comparison) -> list[tuple[str, Any]]:
    """Return the integer inputs by name: indices and labels, say."""
    return [
        (f"{name}{path}", leaf.array)
        for name, tree in comparison.inputs.items()
        for path, leaf in leaves(tree)
        if leaf.array is not None and leaf.array.dtype.kind == "i" and leaf.type != "key"
    ]


def repeated(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong only in rows that an index array names more than once."""
    import numpy as np

    for name, indices in _integer_inputs(comparison):
        if indices.ndim != 1:
            continue
        found, counts = np.unique(indices, return_counts=True)
        if all(_wrong_where_repeated(pair, found[counts > 1], found) for pair in comparison.pairs):
            return {"input": name} if comparison.pairs else None
    return None


def _wrong_where_repeated(pair: ArrayPair, repeated: Any, indices: Any) -> bool:
    """Return whether the rows in `repeated`, and no others, are wrong."""
    import numpy as np

    n = len(pair.expected) if pair.expected.ndim else 0
    if not n or not len(repeated) or indices.min() < 0 or indices.max() >= n:
        return False
    wrong = np.flatnonzero(differing(pair).reshape(n, -1).any(axis=1))
    return len(wrong) < n and bool(np.array_equal(wrong, repeated))


def set_for_add(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong only in rows that an index array names, and in those named
    once lacks an input's row: rows were set instead of added to."""
    import numpy as np

    if not comparison.pairs:
        return None
    arrays = comparison.arrays()

    def fits(pair: ArrayPair, found: Any, counts: Any) -> bool:
        n = len(pair.expected) if pair.expected.ndim else 0
        if not n or found.min() < 0 or found.max() >= n or not (counts == 1).any():
            return False
        if differing(pair)[~np.isin(np.arange(n), found)].any():
            return False
        once, missing = found[counts == 1], pair.expected - pair.actual
        same = (array for _, array in arrays if array.shape == pair.expected.shape)
        return any(array[once].any() and pair.fits(missing[once], array[once]) for array in same)

    for name, indices in _integer_inputs(comparison):
        if indices.ndim == 1:
            found, counts = np.unique(indices, return_counts=True)
            if all(fits(pair, found, counts) for pair in comparison.pairs):
                return {"input": name}
    return None


def _out_of_range(comparison: Comparison) -> Iterator[tuple[Fields, Any, Any]]:
    """Yield fields, indices and mask of integer inputs out of range exactly in the wrong rows."""
    for name, indices in _integer_inputs(comparison):
        for size, what in comparison.counts().items():
            wrong = (indices < 0) | (indices >= size)
            if wrong.any() and all(_wrong_rows_equal(pair, wrong) for pair in comparison.pairs):
                yield {"input": name, "count": str(size), "size": what}, indices, wrong


def _wrong_rows_equal(pair: ArrayPair, wrong: Any) -> bool:
    import numpy as np

    if not wrong.ndim or pair.expected.shape[: wrong.ndim] != wrong.shape or wrong.all():
        return False
    rows = differing(pair).reshape(*wrong.shape, -1).any(axis=-1)
    return bool(np.array_equal(rows, wrong))


def clamped(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong only in rows with an index out of range, which have the last
    index's values."""
    arrays = comparison.arrays()

    def last(pair: ArrayPair, indices: Any, size: int) -> Iterator[Numbers]:
        yield from pair.actual[indices == size - 1][:1]
        for _, array in arrays:
            if len(array.shape) and len(array) == size and array.ndim > 0:
                yield array[-1]

    for found, indices, wrong in _out_of_range(comparison) if comparison.pairs else ():
        size = int(found["count"])
        if all(
            any(
                row.shape == pair.actual[wrong][0].shape and bool((pair.actual[wrong] == row).all())
                for row in last(pair, indices, size)
            )
            for pair in comparison.pairs
        ):
            return found
    return None


def zero_out_of_range(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong only in rows with a label out of range, which are zero."""
    for found, _, wrong in _out_of_range(comparison) if comparison.pairs else ():
        if not any(pair.actual[wrong].any() for pair in comparison.pairs):
            return found
    return None


def last_part(comparison: Comparison) -> Fields | None:
    """Recognise the end of an input, where an index input starts a slice too late to fit."""
    import numpy as np

    starts = [(name, int(i)) for name, i in _integer_inputs(comparison) if not i.ndim]
    for pair in comparison.pairs:
        size = len(pair.actual) if pair.actual.ndim else 0
        for name, array in comparison.arrays():
            if not 1 < size < (len(array) if array.ndim else 0):
                continue
            if np.array_equal(array[-size:], pair.actual):
                for index, start in starts:
                    if start + size > len(array):
                        return {"input": name, "index": index}
    return None


def where_zero(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong exactly where an input is zero."""
    import numpy as np

    def fits(pair: ArrayPair, array: Numbers) -> bool:
        return pair.expected.shape == array.shape and np.array_equal(differing(pair), array == 0)

    for name, array in comparison.arrays():
        mixed = (array == 0).any() and (array != 0).any()
        if mixed and comparison.pairs and all(fits(pair, array) for pair in comparison.pairs):
            return {"input": name}
    return None


def empty_rows(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong exactly in the rows that should be zero."""
    import numpy as np

    found = None
    for pair in comparison.pairs:
        if pair.expected.ndim < 2:
            return None
        rows = (-1, pair.expected.shape[-1])
        empty: Any = ~pair.expected.reshape(rows).any(axis=1)
        wrong = differing(pair).reshape(rows).any(axis=1)
        if empty.all() or not np.array_equal(empty, wrong):
            return None
        if not np.ptp(pair.actual.reshape(rows)[empty]):
            return None  # filled with some other constant
        found = {"count": str(empty.sum()), "total": str(len(empty))}
    return found


def constant_from(comparison: Comparison) -> Fields | None:
    """Recognise a vector that is constant from some index on but should not be."""
    found = None
    for pair in comparison.pairs:
        if (position := _constant_from(pair)) is None:
            return None
        found = {"position": str(position)}
    return found


def _constant_from(pair: ArrayPair) -> int | None:
    import numpy as np

    if pair.expected.ndim != 1 or len(pair.expected) < 4:
        return None
    changes = np.flatnonzero(np.diff(pair.actual))
    position = int(changes[-1]) + 1 if len(changes) else 0
    tail = pair.expected[position:]
    return position if position > 0 and len(tail) > 2 and len(np.unique(tail)) > 1 else None


def right_until(comparison: Comparison) -> Fields | None:
    """Recognise a vector that is right up to some index and constant, wrongly, from there on."""
    found = constant_from(comparison)
    if found is None:
        return None
    position = int(found["position"])
    right = all(not differing(pair)[: position + 1].any() for pair in comparison.pairs)
    return found if right and position > 1 else None


def now_and_then(comparison: Comparison) -> Fields | None:
    """Recognise a vector that is right only at every nth element."""
    import numpy as np

    found = None
    for pair in comparison.pairs:
        right = np.flatnonzero(~differing(pair)) if pair.expected.ndim == 1 else np.array([])
        steps = np.unique(np.diff(right))
        if len(right) < 3 or right[0] or len(steps) != 1 or steps[0] < 2:
            return None
        found = {"step": str(steps[0])}
    return found


def update_dropped(comparison: Comparison) -> Fields | None:
    """Recognise an input returned unchanged, where an index input is out of its range."""
    if (found := an_input(comparison)) is None:
        return None
    same = next(array for name, array in comparison.arrays() if name == found["input"])
    for name, indices in _integer_inputs(comparison):
        if same.ndim and indices.size and (indices >= len(same)).all():
            return {**found, "index": name}
    return None


_SWITCH = re.compile(r"\bswitch\(\s*\w[\w.]*\s*,\s*([\[(]|\w+\b)")


def no_such_branch(comparison: Comparison) -> Fields | None:
    """Recognise wrong numbers where an index input is out of range for the code's `switch`."""
    found = _SWITCH.search(comparison.source)
    if found is None or not comparison.pairs:
        return None
    begin = found.start(1)
    if found[1] not in "[(":  # a name that a list is assigned to
        named = re.search(rf"\b{found[1]}\s*=\s*[\[(]", comparison.source)
        if named is None:
            return None
        begin = named.end() - 1
    count = _item_count(comparison.source[begin:])
    for name, index in _integer_inputs(comparison):
        if count and not index.ndim and not 0 <= index < count:
            return {"input": name, "index": str(index), "count": str(count)}
    return None


def nearest_branch(comparison: Comparison) -> Fields | None:
    """Recognise results of a `switch` where an input was expected unchanged, and others right."""
    import numpy as np

    if "switch(" not in comparison.source or not comparison.pairs or comparison.other is not None:
        return None
    for name, array in comparison.arrays():
        same = [np.array_equal(array, pair.expected) for pair in comparison.pairs]
        if all(same) and array.size > 1 and not comparison.others:
            return {"input": name}
    return None


def _item_count(text: str) -> int:
    """Return the number of items in the list or tuple at the start of `text`; 0 if unclosed."""
    depth, count, item = 0, 0, False
    for at, character in enumerate(text[:2_000]):
        if character in "([{":
            depth += 1
            item = item or depth > 1
        elif character in ")]}":
            depth -= 1
            if not depth:
                return count + item
        elif character == "," and depth == 1 and not _LAMBDA.search(text[:at]):
            count, item = count + item, False
        elif not character.isspace():
            item = True
    return 0


_LAMBDA = re.compile(r"\blambda\b[^:]*$")
"""A lambda whose parameter list has not ended."""
