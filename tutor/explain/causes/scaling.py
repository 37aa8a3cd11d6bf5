"""Causes: the answer, the change of an input, or what is added to one, is off by a factor that the
inputs or the code account for."""

import re
from collections.abc import Iterator
from math import sqrt

from msgspec import Struct

from tutor.arrays import np
from tutor.explain.causes import steps
from tutor.explain.causes.comparison import ArrayPair, Comparison, Fields
from tutor.explain.causes.steps import ratio_of

EXACT = 2e-5
"""Of a ratio of numbers."""

NEARLY = 2e-3
"""Of a ratio of differences, which rounding disturbs more."""

_DIVIDED_SUM = re.compile(r"\bsum\([^\n]{0,120}/ ?(\d{1,9})(?![\w.])")
_LITERAL = re.compile(r"(?<![\w.\])])(\d+\.\d*(?:e-?\d+)?|\d+e-?\d+|\.\d+)(?![\w.])")


class Scaled(Struct, frozen=True):
    """What is `ratio` times what it should be, in words, how exactly that is known, and the
    smallest count that can be its reason."""

    what: str
    ratio: float
    tolerance: float = NEARLY
    least: int = 2

    def near(self, number: float) -> bool:
        """Return whether the ratio is a number."""
        return abs(self.ratio - number) <= self.tolerance * abs(number)


def _scaled(comparison: Comparison) -> Scaled | None:
    """Return what is off by a factor."""
    if (ratio := _common_ratio(comparison)) is not None:
        return Scaled(comparison.where, ratio, EXACT, least=3)  # twice the answer has many causes
    if (step := steps.step(comparison)) is not None:
        return Scaled(f"The change of `{step.input}`", step.ratio)
    if (part := steps.part(comparison)) is not None:
        return Scaled(f"What is added to {part.kept} times `{part.input}`", part.ratio)
    return None


def _ratio(pair: ArrayPair) -> float | None:
    """Return r if actual = r · expected, else None."""
    found = ratio_of(pair.actual, pair.expected)
    return found if found and pair.fits(pair.actual / found, pair.expected) else None


def _common_ratio(comparison: Comparison) -> float | None:
    """Return the ratio of actual to expected that all pairs share, unless it may be chance."""
    ratios = [_ratio(pair) for pair in comparison.pairs]
    first = ratios[0] if ratios else None
    if first is None or any(one is None or abs(one / first - 1) > EXACT for one in ratios):
        return None
    if comparison.others and all(pair.expected.size == 1 for pair in comparison.pairs):
        return None  # among other wrong arrays, any ratio of single numbers is chance
    return None if all(_share(pair, comparison) for pair in comparison.pairs) else first


def _share(pair: ArrayPair, comparison: Comparison) -> bool:
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


def by_a_count(comparison: Comparison) -> Fields | None:
    """Recognise a result too large or too small by a count: the number of examples, say."""
    if (scaled := _scaled(comparison)) is None:
        return None
    for count, size in comparison.counts().items():
        for how, ratio in (("large", count), ("small", 1 / count)):
            if count >= scaled.least and scaled.near(ratio):
                return {"what": scaled.what, "factor": str(count), "how": how, "size": size}
    return None


def too_large_by_a_count(comparison: Comparison) -> Fields | None:
    """Recognise a result that is as many times too large as there are examples, say."""
    found = by_a_count(comparison)
    return found if found is not None and found["how"] == "large" else None


def by_the_devices(comparison: Comparison) -> Fields | None:
    """Recognise a result that is as many times too large as there are devices."""
    found = too_large_by_a_count(comparison)
    return found if found is not None and int(found["factor"]) == comparison.devices else None


def by_all_entries(comparison: Comparison) -> Fields | None:
    """Recognise a mean over all entries where only those count that a mask, labels or lengths
    select."""
    if (scaled := _scaled(comparison)) is None:
        return None
    for some, name, total in _selected(comparison):
        if some not in (0, total) and scaled.near(some / total):
            counts = {"count": str(total), "expected_count": str(some)}
            return {"what": scaled.what, **counts, "input": name}
    return None


def _selected(comparison: Comparison) -> Iterator[tuple[int, str, int]]:
    """Yield how many entries of an input count, its name, and how many entries it has."""
    for name, array in comparison.arrays():
        if array.size > 1 and set(np.unique(array).tolist()) == {0.0, 1.0}:
            yield int(array.sum()), name, array.size
        elif array.size > 1 and (array < 0).any() and not np.mod(array, 1).any():
            yield int((array >= 0).sum()), name, array.size
        elif array.size == 1 and float(array.reshape(())).is_integer():
            number = int(array.reshape(()))
            for _, one in comparison.arrays():
                if one.ndim and 0 < number < len(one):
                    yield number, name, len(one)


def by_a_number(comparison: Comparison) -> Fields | None:
    """Recognise a result off by a scalar input, or multiplied by a number in the code: by a
    learning rate, or a momentum's damping, say."""
    if (scaled := _scaled(comparison)) is None:
        return None
    for name, how, ratio in _factors(comparison):
        if scaled.near(ratio):
            return {"what": scaled.what, "how": how, "name": name}
    return None


def _factors(comparison: Comparison) -> Iterator[tuple[str, str, float]]:
    """Yield numbers by which a result may be multiplied or divided, except for a half and integers,
    which have many causes."""
    for name, number in comparison.scalars():
        if not number.is_integer():
            yield f"`{name}`", "multiplied", number
            yield f"`{name}`", "divided", 1 / number
    for text in sorted(set(_LITERAL.findall(comparison.source))):
        number = float(text)
        if number != 0.5 and not number.is_integer():
            yield f"the number {number:g}", "multiplied", number


def by_a_degree_of_freedom(comparison: Comparison) -> Fields | None:
    """Recognise a variance or standard deviation divided by n instead of n - 1, or the reverse."""
    if (found := _common_ratio(comparison)) is None:
        return None
    for count, size in comparison.counts().items():
        share = (count - 1) / count
        ratios = (share, sqrt(share), 1 / share, 1 / sqrt(share))
        if any(abs(found / ratio - 1) <= EXACT for ratio in ratios):
            return {"count": str(count), "fewer": str(count - 1), "size": size}
    return None


def by_a_divisor(comparison: Comparison) -> Fields | None:
    """Recognise a result off by the ratio of a count to a number that the code divides a sum by."""
    numbers = {int(digits) for digits in _DIVIDED_SUM.findall(comparison.source)} - {0, 1}
    for pair in comparison.pairs:
        # One pair is enough: of a training step only the loss is proportional.
        if (found := _ratio(pair)) is None or _share(pair, comparison):
            continue
        for number in sorted(numbers):
            for count, size in comparison.counts().items():
                if number != count and abs(found * number / count - 1) <= EXACT:
                    return {"number": str(number), "count": str(count), "size": size}
    return None
