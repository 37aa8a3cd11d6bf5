"""Causes: the answer, or its update, is off by a factor that the inputs or the code account for."""

import re
from collections.abc import Iterator
from math import e, log, pi, sqrt

from tutor.explain.causes.comparison import Comparison, Fields
from tutor.explain.causes.scaling import common_ratio, near, share

_LITERAL = re.compile(r"(?<![\w.\])])(\d+\.\d*(?:e-?\d+)?|\d+e-?\d+|\.\d+)(?![\w.])")

_MEAN = re.compile(r"\bmean\(|\baverage\(|/ ?\(?(?:len\(|[\w.]{1,40}\.(?:size|shape)\b)")
"""A division by the number of all entries."""

MANY = 4

FEW = 3
"""Other wrong arrays, of which none has the same ratio."""

_MADE_UP = ("half ", "one over half ", "1 - ", "the root ", "one over the root ")

CONSTANTS = {
    log(2): "the logarithm of 2",
    log(10): "the logarithm of 10",
    pi: "π",
    2 * pi: "2π",
    pi / 180: "π/180",
    e: "e",
    255.0: "255",
    sqrt(2): "the root of 2",
    sqrt(2 * pi): "the root of 2π",
}


def literals(code: str) -> set[float]:
    """Return the floats that a piece of code contains."""
    return {float(text) for text in _LITERAL.findall(code)} - {0.0, 1.0}


def factor(comparison: Comparison) -> Fields | None:
    """Recognise the expected result times any constant."""
    found = common_ratio(comparison)
    if found is None or near(found, 1) or all(share(p, comparison) for p in comparison.pairs):
        return None
    name = named(found, comparison)
    # A ratio of two numbers always exists, so it must be one that means something.
    if not name and not any(pair.distinct > 2 for pair in comparison.pairs):
        return None
    ratio = shown(found)
    if not name and "." in ratio and len(comparison.pairs) < comparison.arrays_expected:
        return None  # a step or a mean that went another way shows such a ratio in one array
    if len(comparison.others) > FEW and (not name or name.startswith(_MADE_UP)):
        return None  # and of many such arrays, one shows a ratio that has a name
    return {"ratio": ratio, "name": f", which is {name}" if name else ""}


def shown(number: float) -> str:
    """Return a factor as people write it: as an integer or as a fraction if it is one."""
    for size in (1, 2, 3):
        if near(number * size, round(number * size)) and round(number * size):
            return str(round(number * size)) + (f"/{size}" if size > 1 else "")
    if abs(number) < 1 and near(1 / number, round(1 / number)):
        return f"1/{round(1 / number)}"
    return f"{number:.4g}"


def named(ratio: float, comparison: Comparison, tolerance: float = 2e-5) -> str:
    """Return what a factor is made of; "" if that is not known."""

    def like(number: float) -> bool:
        return number != 0 and abs(ratio - number) <= tolerance * abs(number)

    for number, name in _known(comparison):
        if like(number):
            return name
        if like(1 / number) and not name.startswith("1 - "):
            return f"1 / {name}" if name.startswith("`") else f"one over {name}"
    return ""


def _known(comparison: Comparison) -> Iterator[tuple[float, str]]:
    """Yield numbers that may be a factor, the most likely first."""
    for name, number in comparison.scalars():
        yield number, f"`{name}`"
    for number in sorted((literals(comparison.source) | literals(comparison.torch)) - {0.5, 2.0}):
        if 0 < number < 1:
            yield number / (1 - number), f"{number:g} / {1 - number:g}"
            yield 1 - number, f"1 - {number:g}"
        yield number, f"the number {number:g}"
    for count, what in comparison.counts().items():
        if count > MANY:  # small numbers have many causes
            yield count, what if what.startswith("the ") else f"the number {_plain(what)}"
    for count, what in comparison.counts().items():
        if not sqrt(count).is_integer():
            yield sqrt(count), f"the root of {count}, the number {_plain(what)}"
    for name, number in comparison.scalars():
        if 0 < number < 1:
            yield number / (1 - number), f"`{name}` / (1 - `{name}`)"
            yield 1 - number, f"1 - `{name}`"
        yield number**2, f"`{name}` squared"
        yield number**2 / 2, f"half of `{name}` squared"
        yield number / 2, f"half of `{name}`"
    yield from CONSTANTS.items()


def _plain(what: str) -> str:
    return f"of {what}" if what.startswith(("axis", "the ")) else f"`{what}`"


def times_an_input(comparison: Comparison) -> Fields | None:
    """Recognise the expected result times a scalar input."""
    return _by_an_input(comparison, 1)


def over_an_input(comparison: Comparison) -> Fields | None:
    """Recognise the expected result divided by a scalar input."""
    return _by_an_input(comparison, -1)


def _by_an_input(comparison: Comparison, power: int) -> Fields | None:
    found = common_ratio(comparison)
    if found is None:
        return None
    for name, number in comparison.scalars():
        # Small integers have many causes.
        if not number.is_integer() and near(found, number**power):
            return {"input": name, "how": "times" if power > 0 else "divided by"}
    return None


def count_for_another(comparison: Comparison) -> Fields | None:
    """Recognise a mean over all entries where only some count, or the reverse: the result is off by
    the number of entries over the number of those that a mask, labels or lengths select."""
    found = common_ratio(comparison)
    if found is None:
        return None
    if (near(found, 0.5) or near(found, 2)) and not _MEAN.search(comparison.source):
        return None  # a half has many causes
    for some, what, total in selected(comparison):
        for ratio, divided, right in ((some / total, total, some), (total / some, some, total)):
            if some not in (0, total) and near(found, ratio):
                return {
                    "input": what,
                    "selected": str(some),
                    "count": str(divided),
                    "expected_count": str(right),
                    "how": "large" if ratio > 1 else "small",
                }
    return None


def selected(comparison: Comparison) -> Iterator[tuple[int, str, int]]:
    """Yield how many entries of an input count, its name, and how many entries it has."""
    import numpy as np

    for name, array in comparison.arrays():
        values = np.unique(array)
        if array.size > 1 and set(values.tolist()) == {0.0, 1.0}:
            yield int(array.sum()), name, array.size
        elif array.size > 1 and (array < 0).any() and not np.mod(array, 1).any():
            yield int((array >= 0).sum()), name, array.size
        elif array.size == 1 and float(array.reshape(())).is_integer():
            number = int(array.reshape(()))
            for other, one in comparison.arrays():
                if one.ndim and 0 < number < len(one):
                    yield number, f"{name} of {other}", len(one)
