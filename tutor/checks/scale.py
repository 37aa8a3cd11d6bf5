"""The scale by which an element's error is measured.

    |actual - expected| ≤ tolerance · scale,   scale = max(1, max|expected|)

with one exception. In masked attention scores a few elements are -1e9; relative to them any other
element would pass. So elements that share one magnitude far above all others, like a mask, a
sentinel or a cap, get their own scale, and the others are measured against the rest.
"""

from typing import Any

from tutor.arrays import Floats, np

GAP = 1e4
"""Elements are set aside if they are so many times larger than all others, and than 1."""

GAP_OVER_ONE = 1e8
"""The same if a single element remains, which could be a sum that cancels."""

CONSTANT_SPREAD = 0.01
"""Relative spread of magnitudes that count as one constant."""

GROUPS = 6
"""Most constants that are set aside: masks add up (-1e9, -2e9)."""


def scales(magnitudes: Floats) -> Floats:
    """Return the scale of each element, in the same shape.

    **Arguments:** `magnitudes`: `abs(expected)`. NaN and infinity get the scale of the elements
    that are not set aside, and do not affect it.
    """
    finite = np.isfinite(magnitudes)
    rest = finite
    above: list[tuple[Any, float]] = []  # constants with no gap below them so far
    set_aside: list[tuple[Any, float]] = []
    for _ in range(GROUPS):
        if not rest.any():
            break
        top = float(magnitudes[rest].max())
        group = rest & (magnitudes >= top * (1 - CONSTANT_SPREAD))
        rest = rest & ~group
        above.append((group, top))
        count = np.count_nonzero(rest)
        below = max(1.0, float(magnitudes[rest].max(initial=0.0)))
        if not count or top < below * (GAP if count > 1 else GAP_OVER_ONE):
            continue
        # Several close together are constants only if each occurs more than once.
        if len(above) > 1 and any(np.count_nonzero(group) < 2 for group, _ in above):
            break
        set_aside += above
        above = []
    for group, _ in set_aside:
        finite = finite & ~group
    result = np.full(magnitudes.shape, max(1.0, float(magnitudes[finite].max(initial=0.0))))
    for group, top in set_aside:
        result[group] = top
    return result


def hides(magnitudes: Floats, tolerance: float) -> float:
    """Return the typical allowed error over the median magnitude if that exceeds 1, else 0. Most
    elements of such an array are hardly compared, and its author should know."""
    finite = np.isfinite(magnitudes)
    if np.count_nonzero(finite) < 2:
        return 0.0
    allowed = tolerance * scales(magnitudes)[finite]
    typical = float(np.median(magnitudes[finite]))
    ratio = float(np.median(allowed)) / typical if typical > 0 else 0.0
    return ratio if ratio > 1 else 0.0
