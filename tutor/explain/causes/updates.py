"""Causes: the answer is an input after the wrong update."""

from tutor.explain.causes.comparison import Comparison, Fields, Numbers
from tutor.explain.causes.factors import literals, named, selected
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
        same = [
            (name, array)
            for name, array in arrays
            # A multiple of an input is not an update of it.
            if array.shape == pair.expected.shape and not _multiple(pair.expected, array)
        ]
        found = [
            (name, number)
            for name, array in same
            if (number := _update_ratio(pair.actual - array, pair.expected - array, rounding))
        ]
        if len(found) > 1:  # parameters, moments and gradients have the same shapes
            alike = [one for one in found if _entry(one[0]) == _entry(pair.path)]
            found = alike or found
        if len(found) == 2 and abs(found[0][1] * found[1][1] - 1) < 1e-2:
            found = found[:1]  # an average of two inputs
        if len(found) != 1:
            return None
        ratios += found
    if not ratios or any(abs(r / ratios[0][1] - 1) > 1e-2 for _, r in ratios):
        return None
    return ratios[0]


def _multiple(one: Numbers, other: Numbers) -> bool:
    """Return whether one array is a multiple of the other, or the same everywhere."""
    import numpy as np

    if np.ptp(one) <= 1e-3 * np.abs(one).max():
        return True
    number = ratio_of(one, other)
    return bool(np.abs(one - number * other).max() <= 1e-3 * np.abs(one).max())


def _entry(path: str) -> str:
    """Return the last key of a path, or the name of an input without entries."""
    return path[path.rfind("[") :] if "[" in path else path


def _update_ratio(update: Numbers, wanted: Numbers, rounding: float) -> float:
    """Return the ratio of two updates; 0 if it is not evidence."""
    import numpy as np

    number = ratio_of(update, wanted)
    size = float(np.abs(wanted).max(initial=0.0))
    if not number or size < LARGE * rounding or np.ptp(wanted) < 1e-2 * size:
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


def step_without_the_rate(comparison: Comparison) -> Fields | None:
    """Recognise an update too large by the inverse of a scalar input: a learning rate, say."""
    return _step_by_an_input(comparison, -1)


def step_times_the_rate(comparison: Comparison) -> Fields | None:
    """Recognise an update too small by a scalar input."""
    return _step_by_an_input(comparison, 1)


def _step_by_an_input(comparison: Comparison, power: int) -> Fields | None:
    if (found := _input_and_ratio(comparison)) is None:
        return None
    for name, number in comparison.scalars():
        if number > 0 and abs(found[1] / number**power - 1) < 2e-3:
            return {"input": found[0], "rate": name}
    return None


def weights_exchanged(comparison: Comparison) -> Fields | None:
    """Recognise an average of an input and something new whose two weights are exchanged: the
    update is (1 - w) / w times as long, for a number w in the code or the inputs."""
    if (found := _input_and_ratio(comparison)) is None:
        return None
    numbers = [(f"{n:g}", n) for n in sorted(literals(comparison.source), reverse=True)]
    for name, number in [*comparison.scalars(), *numbers]:
        if 0 < number < 1 and number != 0.5:
            for ratio in (number / (1 - number), (1 - number) / number):
                if abs(found[1] / ratio - 1) < 2e-3:
                    return {"input": found[0], "weight": name}
    return None


def step_scaled(comparison: Comparison) -> Fields | None:
    """Recognise an update in the right direction, off by any factor."""
    found = _input_and_ratio(comparison)
    if found is None or found[1] < 0 or abs(found[1] - 1) < 1e-2:
        return None
    name = named(found[1], comparison, 2e-3)
    ratio = f"{found[1]:.3g}"
    return {"input": found[0], "ratio": ratio, "name": f", which is {name}" if name else ""}


def step_by_another_count(comparison: Comparison) -> Fields | None:
    """Recognise an update off by the number of all entries over the number of those that a mask,
    labels or lengths select: a gradient of a mean over the wrong ones."""
    if (found := _input_and_ratio(comparison)) is None:
        return None
    for some, what, total in selected(comparison):
        for ratio, divided, right in ((some / total, total, some), (total / some, some, total)):
            if some not in (0, total) and abs(found[1] / ratio - 1) < 2e-3:
                return {
                    "input": found[0],
                    "mask": what,
                    "count": str(divided),
                    "expected_count": str(right),
                    "how": "large" if ratio > 1 else "small",
                }
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


def only_frozen_moved(comparison: Comparison) -> Fields | None:
    """Recognise changed inputs that should have been returned unchanged, where everything else that
    was expected is right."""
    import numpy as np

    from tutor.tree import leaves

    wrong = {pair.path for pair in comparison.pairs} | set(comparison.others)
    right = [
        leaf.array
        for path, leaf in leaves(comparison.expected)
        if path not in wrong and leaf.array is not None and leaf.array.dtype.kind == "f"
    ]
    if comparison.other is not None or not any(array.size > 1 for array in right):
        return None
    moved: list[str] = []
    for pair in comparison.pairs:
        same = [name for name, array in comparison.arrays() if np.array_equal(array, pair.expected)]
        if not same:
            return None
        moved.append(same[0])
    if frozen_moved(comparison) is None:
        return None
    names = [*dict.fromkeys(moved)]
    return {"input": "`, `".join(names[:3])} if len(names) <= 3 else None
