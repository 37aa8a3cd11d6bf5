"""Causes: the answer is the right one times a constant."""

import re
from math import sqrt

from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields, Numbers

_ROOT = re.compile(r"sqrt|\*\* ?-?0?\.5")


def ratio(pair: ArrayPair) -> float | None:
    """Return r if actual = r · expected, else None."""
    found = ratio_of(pair.actual, pair.expected)
    return found if found and pair.fits(pair.actual / found, pair.expected) else None


def ratio_of(actual: Numbers, expected: Numbers) -> float:
    """Return the least-squares r for actual = r · expected; 0 if there is none."""
    import numpy as np

    size = float(np.sum(expected * expected))
    found = float(np.sum(actual * expected)) / size if size else 0.0
    return found if np.isfinite(found) else 0.0


def common_ratio(comparison: Comparison) -> float | None:
    """Return the ratio of actual to expected if all pairs share one, else None."""
    ratios = [ratio(pair) for pair in comparison.pairs]
    first = ratios[0] if ratios else None
    if first is None or any(one is None or not near(one, first) for one in ratios):
        return None
    return first


def near(one: float, other: float) -> bool:
    """Return whether two numbers are equal within float32 rounding."""
    return abs(one - other) <= 2e-5 * abs(other)


def sign(comparison: Comparison) -> Fields | None:
    """Recognise a wrong sign."""
    found = common_ratio(comparison)
    return {} if found is not None and near(found, -1) else None


def over_devices(comparison: Comparison) -> Fields | None:
    """Recognise a result too large by the number of devices."""
    found = common_ratio(comparison)
    if found is None or comparison.devices < 2 or not near(found, comparison.devices):
        return None
    return {"devices": str(comparison.devices)}


def by_devices(comparison: Comparison) -> Fields | None:
    """Recognise a result too small by the number of devices."""
    found = common_ratio(comparison)
    if found is None or comparison.devices < 2 or not near(1 / found, comparison.devices):
        return None
    return {"devices": str(comparison.devices)}


def times_a_count(comparison: Comparison) -> Fields | None:
    """Recognise a result too large by a count: the number of examples, say."""
    found = common_ratio(comparison)
    return None if found is None else _matching_count(found, comparison)


def divided_by_a_count(comparison: Comparison) -> Fields | None:
    """Recognise a result too small by a count."""
    found = common_ratio(comparison)
    return None if found is None else _matching_count(1 / found, comparison)


def _matching_count(number: float, comparison: Comparison) -> Fields | None:
    if all(share(pair, comparison) for pair in comparison.pairs):
        return None
    for count, what in comparison.counts().items():
        if count > 2 and near(number, count):  # 2 has many causes
            return {"factor": str(count), "size": what}
    return None


def share(pair: ArrayPair, comparison: Comparison) -> bool:
    """Return whether both numbers are counts, or shares of one such as accuracies, whose ratio is
    one of small integers by chance."""
    if pair.expected.size > 1:
        return False
    one, other = float(pair.expected.flat[0]), float(pair.actual.flat[0])
    if one.is_integer() and other.is_integer():
        return True
    return any(
        all(0 < x < 1 and abs(x * count - round(x * count)) < 1e-4 for x in (one, other))
        for count in comparison.counts()
        if count < 1000
    )


def twice(comparison: Comparison) -> Fields | None:
    """Recognise twice the expected result."""
    found = common_ratio(comparison)
    return {} if found is not None and near(found, 2) else None


def half(comparison: Comparison) -> Fields | None:
    """Recognise half the expected result."""
    found = common_ratio(comparison)
    return {} if found is not None and near(found, 0.5) else None


def degrees_of_freedom(comparison: Comparison) -> Fields | None:
    """Recognise a variance or standard deviation divided by n instead of n - 1, or the reverse."""
    found = common_ratio(comparison)
    if found is None:
        return None
    for count, what in comparison.counts().items():
        share = (count - 1) / count
        if any(near(found, r) for r in (share, sqrt(share), 1 / share, 1 / sqrt(share))):
            return {"count": str(count), "size": what}
    return None


def leaf_by_leaf(comparison: Comparison) -> Fields | None:
    """Recognise arrays that are each off by a different positive factor."""
    ratios = [ratio(pair) for pair in comparison.pairs if pair.expected.size > 1]
    if len(ratios) < 2 or any(one is None or one <= 0 for one in ratios):
        return None
    known = [one for one in ratios if one is not None]
    return None if all(near(one, known[0]) for one in known) else {}


def by_a_root(comparison: Comparison) -> Fields | None:
    """Recognise a result off by the square root of a count; an integer root only if the code takes
    one, because factors such as 2 and 3 have many causes."""
    found = common_ratio(comparison)
    if found is None:
        return None
    for count, what in comparison.counts().items():
        if sqrt(count).is_integer() and not _ROOT.search(comparison.source):
            continue
        if near(found, sqrt(count)) or near(found, 1 / sqrt(count)):
            return {"count": str(count), "size": what}
    return None


def proportional(comparison: Comparison) -> Fields | None:
    """Recognise the expected result times any positive constant."""
    found = common_ratio(comparison)
    if found is None or found < 0 or not any(pair.distinct > 2 for pair in comparison.pairs):
        return None
    return {"ratio": f"{found:.4g}"}
