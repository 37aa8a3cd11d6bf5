"""Describe how wrong numbers are made from the right ones, such as scaled or transposed."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TypeAlias

from tutor.arrays import Floats, np

Close: TypeAlias = Callable[[Floats, Floats], bool]

MAX_ELEMENTS = 1 << 20
"""Largest array to analyse."""


def pattern(want: Floats, got: Floats, close: Close) -> str:
    """Return how `got` is made from `want`; "" if no pattern fits.

    **Arguments:** `close`: whether two arrays agree within the comparison's tolerance.
    """
    if not 2 <= want.size <= MAX_ELEMENTS or not (
        np.isfinite(want).all() and np.isfinite(got).all()
    ):
        return ""
    if not got.any():
        return "every number is 0"
    with np.errstate(all="ignore"):
        return next(_patterns(want, got, close), "")


def _patterns(want: Floats, got: Floats, close: Close) -> Iterator[str]:
    if np.ptp(want) == 0:
        return  # every constant is a multiple of another
    if np.ptp(got) == 0:
        yield f"every number is {got.flat[0]:.6g}"
    size = float((want * want).sum())
    ratio = float((want * got).sum()) / size if size else 0.0
    if ratio and close(want * ratio, got):
        sign = "every sign is wrong" if abs(ratio + 1) < 1e-5 else ""
        yield sign or f"every number is {ratio:.6g} times the expected one"
    offset = float((got - want).mean())
    if offset and close(want + offset, got):
        yield f"every number is too {'large' if offset > 0 else 'small'} by {abs(offset):.6g}"
    for one, other in combinations(range(want.ndim), 2):
        if want.shape[one] == want.shape[other] and close(want.swapaxes(one, other), got):
            if want.ndim == 2:
                yield "it is the transpose of the expected matrix"
            else:
                yield f"the axes {one} and {other} are swapped"
    for axis in range(want.ndim):
        if want.shape[axis] > 1 and close(np.flip(want, axis), got):
            yield f"the order along axis {axis} is reversed"
        for by in (1, -1):
            if want.shape[axis] > 2 and close(np.roll(want, by, axis), got):
                direction = "forward" if by > 0 else "back"
                yield f"every number is shifted {direction} by one along axis {axis}"
    if want.ndim > 1:
        yield from _repeated(want, got, close)
    for axis, name in ((0, "row"), (1, "column")):
        if want.ndim == 2 or (want.ndim > 2 and axis == 0):
            yield from _few(name, np.moveaxis(want, axis, 0), np.moveaxis(got, axis, 0), close)


def _repeated(want: Floats, got: Floats, close: Close) -> Iterator[str]:
    """Yield which expected row or column all are, or that all are the same."""
    for axis, name in ((0, "row"), (1, "column")):
        rows, found = np.moveaxis(want, axis, 0), np.moveaxis(got, axis, 0)
        if len(rows) < 2 or close(np.broadcast_to(rows[0], rows.shape), rows):
            continue  # so are the expected ones
        if close(np.broadcast_to(found[0], found.shape), found):
            right = (i for i in range(len(rows)) if close(rows[i], found[0]))
            number = next(right, None)
            yield f"every {name} is the " + (
                "same" if number is None else f"expected {name} {number}"
            )


def _few(name: str, want: Floats, got: Floats, close: Close) -> Iterator[str]:
    """Yield which rows (along the first axis) differ, if they are few."""
    if len(want) <= 2:
        return
    wrong = [i for i in range(len(want)) if not close(want[i], got[i])]
    if len(wrong) == 1:
        yield f"only {name} {wrong[0]} of {len(want)} differs"
    elif len(wrong) <= len(want) // 3:
        listed = ", ".join(map(str, wrong[:6])) + (" …" if len(wrong) > 6 else "")
        yield f"only the {name}s {listed} of {len(want)} differ"
