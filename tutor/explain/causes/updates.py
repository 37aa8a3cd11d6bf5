"""The answer is something among the inputs, updated in another way than was expected."""

from tutor.explain.causes.comparison import Comparison, Fields, Numbers
from tutor.explain.causes.scaling import near, ratio_of

LARGE = 30
"""How many times the rounding an update must be for its size to tell anything."""


def _ratio(comparison: Comparison) -> tuple[str, float] | None:
    """An input, and by what number its update is the right one."""
    import numpy as np

    arrays = comparison.arrays()
    ratios: list[tuple[str, float]] = []
    # Of a single number every update is a multiple of the right one.
    for pair in (pair for pair in comparison.pairs if pair.expected.size > 1):
        rounding = 1e-6 * max(1.0, float(np.abs(pair.expected).max(initial=0.0)))
        same = [(name, array) for name, array in arrays if array.shape == pair.expected.shape]
        found = [
            (name, number)
            for name, array in same
            if (number := _number(pair.actual - array, pair.expected - array, rounding))
        ]
        if len(found) != 1:
            return None
        ratios += found
    if not ratios or any(abs(r / ratios[0][1] - 1) > 1e-2 for _, r in ratios):
        return None
    return ratios[0]


def _number(update: Numbers, wanted: Numbers, rounding: float) -> float:
    """The ratio of two updates, 0 if there is none that tells anything."""
    import numpy as np

    number = ratio_of(update, wanted)
    size = float(np.abs(wanted).max(initial=0.0))
    if not number or size < LARGE * rounding:
        return 0.0
    # An update that is no update fits anything.
    fits = np.abs(update - number * wanted).max() <= max(3 * rounding, 1e-3 * abs(number) * size)
    return number if fits and abs(number) > 1e-3 else 0.0


def uphill(comparison: Comparison) -> Fields | None:
    """The step goes in the opposite direction."""
    found = _ratio(comparison)
    return {"input": found[0]} if found and abs(found[1] + 1) < 1e-2 else None


def step_times_a_count(comparison: Comparison) -> Fields | None:
    """The step is too long by the number of something."""
    if (found := _ratio(comparison)) is None:
        return None
    for count, what in comparison.counts().items():
        if abs(found[1] / count - 1) < 2e-3:
            return {"input": found[0], "factor": str(count), "size": what}
    return None


def step_over_devices(comparison: Comparison) -> Fields | None:
    """The step is as many times too long as there are devices."""
    found = _ratio(comparison)
    if found is None or comparison.devices < 2 or not near(round(found[1]), comparison.devices):
        return None
    fits = abs(found[1] / comparison.devices - 1) < 1e-2
    return {"devices": str(comparison.devices)} if fits else None


def frozen_moved(comparison: Comparison) -> Fields | None:
    """An input should have come back unchanged, and did not."""
    import numpy as np

    arrays = comparison.arrays()
    for pair in comparison.pairs:
        for name, array in arrays:
            if np.ptp(array) and np.array_equal(array, pair.expected):
                return {"input": name}
    return None
