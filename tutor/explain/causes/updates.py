"""Causes: the answer is an input after the wrong update."""

from tutor.explain.causes.comparison import Comparison, Fields, Numbers
from tutor.explain.causes.scaling import near, ratio_of

LARGE = 30
"""Updates smaller than this many times the rounding error are not evidence."""


def _input_and_ratio(comparison: Comparison) -> tuple[str, float] | None:
    """Return an input and the ratio of its actual update to the expected one."""
    import numpy as np

    arrays = comparison.arrays()
    ratios: list[tuple[str, float]] = []
    # Every update of a single number is a multiple of the right one.
    for pair in (pair for pair in comparison.pairs if pair.expected.size > 1):
        rounding = 1e-6 * max(1.0, float(np.abs(pair.expected).max(initial=0.0)))
        same = [(name, array) for name, array in arrays if array.shape == pair.expected.shape]
        found = [
            (name, number)
            for name, array in same
            if (number := _update_ratio(pair.actual - array, pair.expected - array, rounding))
        ]
        if len(found) != 1:
            return None
        ratios += found
    if not ratios or any(abs(r / ratios[0][1] - 1) > 1e-2 for _, r in ratios):
        return None
    return ratios[0]


def _update_ratio(update: Numbers, wanted: Numbers, rounding: float) -> float:
    """Return the ratio of two updates; 0 if it is not evidence."""
    import numpy as np

    number = ratio_of(update, wanted)
    size = float(np.abs(wanted).max(initial=0.0))
    if not number or size < LARGE * rounding:
        return 0.0
    # An update of almost zero fits anything.
    fits = np.abs(update - number * wanted).max() <= max(3 * rounding, 1e-3 * abs(number) * size)
    return number if fits and abs(number) > 1e-3 else 0.0


def uphill(comparison: Comparison) -> Fields | None:
    """Recognise an update in the opposite direction."""
    found = _input_and_ratio(comparison)
    return {"input": found[0]} if found and abs(found[1] + 1) < 1e-2 else None


def step_times_a_count(comparison: Comparison) -> Fields | None:
    """Recognise an update too large by a count."""
    if (found := _input_and_ratio(comparison)) is None:
        return None
    for count, what in comparison.counts().items():
        if abs(found[1] / count - 1) < 2e-3:
            return {"input": found[0], "factor": str(count), "size": what}
    return None


def step_over_devices(comparison: Comparison) -> Fields | None:
    """Recognise an update too large by the number of devices."""
    found = _input_and_ratio(comparison)
    if found is None or comparison.devices < 2 or not near(round(found[1]), comparison.devices):
        return None
    fits = abs(found[1] / comparison.devices - 1) < 1e-2
    return {"devices": str(comparison.devices)} if fits else None


def frozen_moved(comparison: Comparison) -> Fields | None:
    """Recognise a changed input that should have been returned unchanged."""
    import numpy as np

    arrays = comparison.arrays()
    for pair in comparison.pairs:
        for name, array in arrays:
            if np.ptp(array) and np.array_equal(array, pair.expected):
                return {"input": name}
    return None
