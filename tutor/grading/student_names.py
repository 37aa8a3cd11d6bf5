"""Names of submissions: one way to write each, and which cannot be told apart.

A name may be anything that a student has called a file, a folder or themselves.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from tutor.plain_text import one_line

_BLANK = "\u2800"
"""A pattern of Braille without dots: it is drawn as a space."""

# Unicode's Default_Ignorable_Code_Point, as far as it is no format character (Cf) anyway.
_IGNORABLE = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF),
)  # fmt: skip


def normalize_name(name: str) -> str:
    """Return a name as it is used everywhere: one way to write an é, one space between words, and
    nothing that cannot be seen or that turns what stands beside it around."""
    seen = "".join(" " if one in _BLANK else one for one in name if not _unseen(one))
    return " ".join(unicodedata.normalize("NFC", seen).split())


def looks(name: str) -> str:
    """Return what a person sees of a name: the same for two that differ in case or width only."""
    return unicodedata.normalize("NFKC", one_line(normalize_name(name))).casefold()


def alike(names: Iterable[str]) -> list[list[str]]:
    """Return the groups of different names that look the same."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        groups[looks(name)].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _unseen(one: str) -> bool:
    if one.isascii():
        return not one.isprintable() and not one.isspace()
    return unicodedata.category(one) in ("Cc", "Cf", "Cs") or any(
        first <= ord(one) <= last for first, last in _IGNORABLE
    )
