"""The scale against which an element's error is measured.

    |actual - expected| ≤ tolerance · scale,   scale = max(1, max|expected|)

with one exception. In masked attention scores a few elements are -1e9, and measured against these
every other element could be anything. Elements that share one magnitude far above all others, as a
mask, a sentinel or a cap does, therefore get a scale of their own, and the others are measured
against what remains.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

GAP = 1e4
"""How many times larger than all others (and than 1) elements must be to be set aside."""

GAP_OVER_ONE = 1e8
"""The same where a single element remains: it could be a sum that cancels."""

ALIKE = 0.01
"""Relative spread of the magnitudes that are set aside together: they are one constant."""

GROUPS = 6
"""How many different constants may be set aside: masks add up (-1e9, -2e9)."""


def scales(magnitudes: "Floats") -> "Floats":
    """Return the scale of each element, of the same shape.

    **Arguments:** `magnitudes`: `abs(expected)`, with NaN and infinity where they are expected;
    these have the scale of the elements that remain, and widen it for none.
    """
    import numpy as np

    finite = np.isfinite(magnitudes)
    rest = finite
    above: list[tuple[Any, float]] = []  # constants over which no gap is known yet
    set_aside: list[tuple[Any, float]] = []
    for _ in range(GROUPS):
        if not rest.any():
            break
        top = float(magnitudes[rest].max())
        group = rest & (magnitudes >= top * (1 - ALIKE))
        rest = rest & ~group
        above.append((group, top))
        count = np.count_nonzero(rest)
        below = max(1.0, float(magnitudes[rest].max(initial=0.0)))
        if not count or top < below * (GAP if count > 1 else GAP_OVER_ONE):
            continue
        # Several that are close together are constants only if each comes more than once.
        if len(above) > 1 and any(np.count_nonzero(group) < 2 for group, _ in above):
            break
        set_aside += above
        above = []
    for group, _ in set_aside:
        finite = finite & ~group
    found = np.full(magnitudes.shape, max(1.0, float(magnitudes[finite].max(initial=0.0))))
    for group, top in set_aside:
        found[group] = top
    return found


def hides(magnitudes: "Floats", tolerance: float) -> float:
    """Return how many of the smaller half's own magnitudes the allowed error is, if that is more
    than 1; else 0. An author should know of such an array: most of it is hardly compared."""
    import numpy as np

    finite = np.isfinite(magnitudes)
    if np.count_nonzero(finite) < 2:
        return 0.0
    allowed = tolerance * scales(magnitudes)[finite]
    typical = float(np.median(magnitudes[finite]))
    ratio = float(np.median(allowed)) / typical if typical > 0 else 0.0
    return ratio if ratio > 1 else 0.0
