"""Causes: where the wrong numbers are."""

from typing import Any

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers

MANY = 3

SEVERAL = 8
"""Numbers in an array before comparing each to a threshold is evidence."""

FEW = 6
"""Arrays of an answer; of more, some are alike by chance."""


def _wrong(pair: ArrayPair) -> Any:
    """Return a mask of the numbers that are wrong, on the scale of the expected ones."""
    import numpy as np

    size = float(np.abs(pair.expected[np.isfinite(pair.expected)]).max(initial=0.0))
    same = np.abs(pair.actual - pair.expected) <= pair.tolerance * size
    return ~(same | (pair.actual == pair.expected))


def wrong_from(comparison: Comparison) -> Fields | None:
    """Recognise a result that is right at the first steps along an axis and wrong at all others."""
    return _run(comparison, "first")


def wrong_at_first(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong at the first steps along an axis only."""
    return _run(comparison, "last")


def wrong_in_the_middle(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong in one run of steps along an axis, and right before it."""
    return _run(comparison, "middle")


def _run(comparison: Comparison, kind: str) -> Fields | None:
    """Return the run of wrong steps along the first axis that has one of this kind."""
    import numpy as np

    if comparison.others and (kind == "middle" or _is_a_parameter(comparison)):
        return None  # of arrays that are all wrong, one is right in some places by chance
    found: list[tuple[int, int, int, int]] = []
    for pair in comparison.pairs:
        wrong = _wrong(pair)
        if kind != "first" and np.isnan(pair.actual[wrong]).any():
            return None
        for axis in range(pair.expected.ndim):
            length = pair.expected.shape[axis]
            steps = wrong.any(axis=tuple(i for i in range(wrong.ndim) if i != axis))
            at = np.flatnonzero(steps)
            if length < MANY or not len(at) or len(at) == length:
                continue
            start, end = int(at[0]), int(at[-1]) + 1
            if end - start != len(at) or not _exact(pair, ~wrong):
                continue
            if not _told(pair.expected[~wrong], pair.expected.ndim):
                continue
            # Inside the run nearly all numbers are wrong; otherwise its bounds are chance.
            inside = np.moveaxis(wrong, axis, 0)[start:end]
            few = 2 * len(at) <= length
            if inside.mean() < 0.8 or (end < length and not few):
                continue
            from_here = end == length and not few
            if kind == ("first" if from_here else "last" if start == 0 else "middle"):
                found.append((axis, start, end, length))
                break
        else:
            return None
    if not found or any(one != found[0] for one in found):
        return None
    axis, start, end, length = found[0]
    return {
        "axis": str(axis),
        "start": str(start),
        "last": str(end - 1),
        "positions": f"position {start}" if end - start == 1 else f"positions {start} to {end - 1}",
        "length": str(length),
    }


def _is_a_parameter(comparison: Comparison) -> bool:
    """Return whether an array has the shape of an input, so that its axes are not steps."""
    shapes = {array.shape for _, array in comparison.arrays()}
    return any(pair.expected.shape in shapes for pair in comparison.pairs)


def _told(right: Numbers, ndim: int) -> bool:
    """Return whether numbers are right by more than chance: zeros and small integers are often
    right, and so is padding."""
    import numpy as np

    some = np.unique(right[np.mod(right, 1) != 0])
    return len(some) >= min(ndim, 2)


def _exact(pair: ArrayPair, right: Any) -> bool:
    """Return whether numbers are right on their own scale, too, so not only because they are
    small."""
    import numpy as np

    expected, actual = pair.expected[right], pair.actual[right]
    close = np.abs(actual - expected) <= 10 * pair.tolerance * np.abs(expected)
    return bool(close.mean() >= 0.9)


def wrong_where(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong exactly in the rows or elements that a mask or a length
    among the inputs selects or leaves out."""
    masks = [
        (name, mask, value)
        for name, array in comparison.arrays()
        for mask, value in [*_masks(comparison, array), *_thresholds(comparison, array)]
    ]
    for name, mask, value in masks:
        if comparison.pairs and all(_exactly(pair, mask) for pair in comparison.pairs):
            return {"input": name, "value": value}
    return None


def _masks(comparison: Comparison, array: Numbers) -> list[tuple[Any, str]]:
    import numpy as np

    values = set(np.unique(array).tolist()) if array.size else set()
    found: list[tuple[Any, str]] = []
    if array.size > MANY and values == {0.0, 1.0}:
        found = [(array != 0, "is true"), (array == 0, "is false")]
    elif array.size > MANY and not np.mod(array, 1).any() and array.min() < 0 <= array.max():
        found = [(array < 0, "is negative"), (array >= 0, "is not negative")]
    elif array.ndim == 1 and array.size > 1 and not np.mod(array, 1).any() and array.min() >= 0:
        for size in sorted({n for pair in comparison.pairs for n in pair.expected.shape[1:2]}):
            beyond = np.arange(size) >= array[:, None]
            found += [(beyond, "ends before them"), (~beyond, "reaches them")]
        if array.size >= MANY:
            found.append((array < array.max(), "is below its largest"))
    if array.ndim == 2 and values == {0.0, 1.0}:
        found.append((~array.astype(bool).all(axis=1), "is false somewhere in the row"))
    return found


def _thresholds(comparison: Comparison, array: Numbers) -> list[tuple[Any, str]]:
    """Return the masks that comparing an input to zero, or to a scalar input, makes."""
    import numpy as np

    shapes = {pair.expected.shape for pair in comparison.pairs}
    if array.shape not in shapes or array.size < SEVERAL or not np.mod(array, 1).any():
        return []
    found = [(array < 0, "is negative"), (array > 0, "is positive")]
    for name, number in comparison.scalars():
        if number > 0:
            found += [
                (array > number, f"is greater than `{name}`"),
                (array < -number, f"is less than -`{name}`"),
                (np.abs(array) > number, f"is greater in size than `{name}`"),
                (np.abs(array) <= number, f"is at most `{name}` in size"),
            ]
    return [(mask, value) for mask, value in found if 1 < mask.sum() < mask.size - 1]


def _exactly(pair: ArrayPair, mask: Any) -> bool:
    """Return whether a mask, whose shape is the beginning or the end of that of an array, marks the
    rows that are wrong."""
    import numpy as np

    wrong = _wrong(pair)
    if not _told(pair.expected[~wrong], 2):
        return False
    if mask.all() or not mask.any() or mask.ndim > wrong.ndim:
        return False
    if wrong.shape[: mask.ndim] == mask.shape:
        rows = wrong.reshape(*mask.shape, -1).any(axis=-1)
        return bool(np.array_equal(rows, mask))
    if wrong.shape[wrong.ndim - mask.ndim :] == mask.shape:
        return bool(np.array_equal(wrong.reshape(-1, *mask.shape).any(axis=0), mask))
    return False


def zeros_missing(comparison: Comparison) -> Fields | None:
    """Recognise a result that is wrong only where zeros (or -inf) were expected, but not at all of
    them."""
    return _constant(comparison, True)


def zeros_too_many(comparison: Comparison) -> Fields | None:
    """Recognise a result that is right except for zeros (or -inf) in other places."""
    return _constant(comparison, False)


def _constant(comparison: Comparison, missing: bool) -> Fields | None:
    import numpy as np

    found: list[tuple[float, int]] = []
    for pair in comparison.pairs:
        wrong = _wrong(pair)
        for constant in (0.0, -np.inf):
            ours, theirs = pair.actual == constant, pair.expected == constant
            there = theirs if missing else ours
            if not wrong.any() or not there[wrong].all() or not _told(pair.expected[~wrong], 2):
                continue
            found.append((constant, int(wrong.sum())))
            break
        else:
            return None
    if not found or any(one[0] != found[0][0] for one in found):
        return None
    return {"constant": f"{found[0][0]:g}", "count": str(sum(one[1] for one in found))}


def another_row(comparison: Comparison) -> Fields | None:
    """Recognise one entry of an input in place of another."""
    found: set[tuple[int, int, int]] = set()
    name = ""
    for pair in comparison.pairs:
        for name_, array in comparison.arrays():
            if array.ndim and array.shape[1:] == pair.expected.shape and len(array) > 1:
                one, two = _row(array, pair.actual), _row(array, pair.expected)
                if one is not None and two is not None and one != two:
                    found.add((one, two, len(array)))
                    name = name or name_
                    break
        else:
            return None
    if len(found) != 1:
        return None
    ((row, expected, count),) = found
    return {"input": name, "row": str(row), "expected_row": str(expected), "count": str(count)}


def _row(array: Numbers, one: Numbers) -> int | None:
    """Return the only entry of an array that equals another array."""
    import numpy as np

    equal = [i for i, row in enumerate(array) if np.array_equal(row, one)]
    plain = one.size < 2 and float(one.reshape(-1)[0]).is_integer()
    return equal[0] if len(equal) == 1 and not plain else None


def another_result(comparison: Comparison) -> Fields | None:
    """Recognise numbers that were expected in another array of the answer."""
    import numpy as np

    from tutor.explain.causes.comparison import real_numbers
    from tutor.tree import leaves

    if len(comparison.pairs) != 1 or sum(1 for _ in leaves(comparison.expected)) > FEW:
        return None
    (pair,) = comparison.pairs
    if pair.actual.size < 2 and float(pair.actual.reshape(-1)[0]).is_integer():
        return None
    for path, leaf in leaves(comparison.expected):
        numbers = real_numbers(leaf)
        if path == pair.path or numbers is None or numbers.shape != pair.actual.shape:
            continue
        if (np.ptp(numbers) or numbers.size == 1) and pair.fits(pair.actual, numbers):
            return {"other": path}
    return None
