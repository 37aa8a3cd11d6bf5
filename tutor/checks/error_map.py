"""Where an array is wrong, and how much: a map that is small enough for every report."""

import msgspec

from tutor.arrays import Array, Floats, np
from tutor.report import ErrorMap, ErrorSlice

ROWS, COLUMNS = 16, 32
"""Most cells of a matrix. A character is twice as high as wide, so that this is a square; and with
its axes it fits a terminal of 24 lines."""

BOUNDS = (1e-3, 1e-2, 1e-1)
"""Errors relative to the scale from which an element has level 2, 3 and 4."""

NOT_FINITE = 5

BYTES = 2400
"""Most bytes of all slices as JSON."""


def error_map(
    error: Floats, limit: Floats, scale: Floats, where: tuple[int, ...]
) -> ErrorMap | None:
    """Return the map of an array with wrong elements; None if it has only one element.

    **Arguments:** `error`: absolute, at least one above `limit`; inf where only one side is NaN.
    `scale`: see `tutor.checks.scale`. `where`: the index of the element whose slice must be in it.
    """
    if error.size < 2:
        return None
    with np.errstate(all="ignore"):
        relative = (error / scale).astype(np.float64)
    levels = 1 + np.searchsorted(BOUNDS, relative, side="right").astype(np.uint8)
    levels[~np.isfinite(error)] = NOT_FINITE
    levels[~(error > limit)] = 0
    leading = levels.shape[:-2]
    matrices = levels.reshape(-1, *(levels.shape[-2:] if levels.ndim > 1 else (1, error.size)))
    step = (-(-matrices.shape[1] // ROWS), -(-matrices.shape[2] // COLUMNS))
    chosen: list[ErrorSlice] = []
    left = BYTES
    for number in _worst_first(matrices, leading, where):
        index = tuple(int(i) for i in np.unravel_index(number, leading)) if leading else ()
        one = ErrorSlice(index, _rows(matrices[number], step))
        left -= len(msgspec.json.encode(one)) + 1
        if chosen and left < 0:
            break
        chosen.append(one)
    return ErrorMap(step, tuple(sorted(chosen, key=lambda one: one.index)))


def _worst_first(matrices: Array, leading: tuple[int, ...], where: tuple[int, ...]) -> list[int]:
    """Return the numbers of matrices: that of `where`, then those with the largest errors, then
    those with the most."""
    first = int(np.ravel_multi_index(where[: len(leading)], leading)) if leading else 0
    count = np.count_nonzero(matrices, axis=(1, 2))
    # A slice takes at least 20 bytes.
    order = np.lexsort((-count, -matrices.max(axis=(1, 2)).astype(int)))[: BYTES // 20]
    return [first, *(int(number) for number in order if number != first)]


def _rows(matrix: Array, step: tuple[int, int]) -> tuple[str, ...]:
    for axis in (0, 1):
        starts = range(0, matrix.shape[axis], step[axis])
        matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return tuple("".join(map(str, row)) for row in matrix.tolist())
