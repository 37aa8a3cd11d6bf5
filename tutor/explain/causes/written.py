"""Causes read from the learner's code, which the numbers confirm or at least allow."""

import re

from tutor.explain.bare_code import bare
from tutor.explain.causes.comparison import Comparison, Fields
from tutor.explain.causes.sameness import an_input
from tutor.explain.causes.scaling import near, ratio, share

_DIVISOR = re.compile(r"/ ?(\d{1,9})(?![\w.])")
_FIELD = re.compile(r"^ +(\w+) ?: ?\w[\w\[\], .]*(?:=.*)?$", re.MULTILINE)
_USED = re.compile(r"\.(\w+)")
_PIECES = re.compile(
    r"array_split\([^()]*,\s*(\d{1,9})\)|batched\([^()]*,\s*(\d{1,9})\)"
    r"|range\(0, ?[^,]*, ?(\d{1,9})\)|: ?\w+ ?\+ ?(\d{1,9})\]"
)
_UPDATED = re.compile(r"\s{1,80}\w{1,40}(?:\.\w{1,40}|\[[^\]\n]{0,40}\]){0,3}\.at\[")
_GOES_ON = re.compile(r"(?:[-+*/%@=<>&|^([{,\\]|\b(?:return|and|or|if|else|in))$")
_ALL_OF_THEM = re.compile(r"\btree\b|\btree_|\.values\(\)|\.items\(\)|\*\*\w|\brefill\b|\*\w")


def divided_by_a_number(comparison: Comparison) -> Fields | None:
    """Recognise a result off by the ratio of a count to a number that the code divides by; 2 is
    divided by for many reasons."""
    numbers = {int(digits) for digits in _DIVISOR.findall(comparison.source)}
    counts = comparison.counts()
    if comparison.devices > 1:
        counts[comparison.devices] = "the devices"
    for pair in comparison.pairs:
        # One pair is enough: of a training step only the loss is proportional.
        found = ratio(pair)
        if found is None or share(pair, comparison):
            continue
        for number in numbers - {0, 1, 2}:
            for count, what in counts.items():
                if number != count and near(found * number, count):
                    return {"number": str(number), "count": str(count), "size": what}
    return None


def update_not_assigned(comparison: Comparison) -> Fields | None:
    """Recognise an input returned unchanged by code with a line `x.at[…].set(…)` whose result goes
    nowhere."""
    if not _dropped_updates(bare(comparison.source)):
        return None
    return an_input(comparison)


def _dropped_updates(source: str) -> bool:
    """Return whether a statement begins with `x.at[`, as a line does that continues none."""
    before = ""
    for line in source.splitlines():
        if _UPDATED.match(line) and not _GOES_ON.search(before):
            return True
        before = line.rstrip() or before
    return False


def field_not_used(comparison: Comparison) -> Fields | None:
    """Recognise code with an unused field of a class."""
    used = set(_USED.findall(comparison.source))
    for name in _FIELD.findall(comparison.source):
        if name not in used:
            return {"field": name}
    return None


def input_not_used(comparison: Comparison) -> Fields | None:
    """Recognise code that does not mention one key of a dict input."""
    whole = _ALL_OF_THEM.search(comparison.source)
    source = f"{comparison.source}\n{comparison.elsewhere}"
    for name, tree in comparison.inputs.items():
        keys = [key for key in tree if isinstance(key, str)] if isinstance(tree, dict) else []
        missing = [key for key in keys if not re.search(rf"\b{re.escape(key)}\b", source)]
        # Code that maps over all entries need not name any; code that names most of them should
        # name all.
        if len(missing) == 1 and len(keys) > (3 if whole else 1):
            return {"input": f"{name}[{missing[0]!r}]"}
    return None


def entry_not_read(comparison: Comparison) -> Fields | None:
    """Recognise code that makes a dict and reads all of its entries but one."""
    source = comparison.source
    made = set(re.findall(r"""["'](\w+)["'] ?:""", source))
    read = set(re.findall(r"""\[f?["'](\w+)["']\](?! ?=[^=])""", source))
    missing = made - set(re.findall(r"""["'](\w+)["'](?! ?:)""", source))
    if len(missing) == 1 and len(made & read) > 2 and "**" not in source and comparison.pairs:
        return {"entry": repr(next(iter(missing)))}
    return None


def uneven_pieces(comparison: Comparison) -> Fields | None:
    """Recognise a nearly right result of code that splits an input into unequal pieces."""
    import numpy as np

    numbers = {int(n) for one in _PIECES.findall(comparison.source) for n in one if n}
    for pair in comparison.pairs:
        size = float(np.abs(pair.expected).max(initial=0.0))
        if not np.abs(pair.actual - pair.expected).max() <= 0.5 * size:
            return None
    for name, array in comparison.arrays() if comparison.pairs else ():
        for number in sorted(numbers - {0, 1}):
            if array.ndim and len(array) > number and len(array) % number:
                return {"number": str(number), "input": name}
    return None
