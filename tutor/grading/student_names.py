"""Names of submissions: one spelling for each, and which of them look the same.

A name may be anything that students have named a file, a directory or themselves.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from tutor.foreign.plain_text import one_line

_BLANK = "\u2800"
"""The Braille pattern without dots: it looks like a space."""

# Unicode's Default_Ignorable_Code_Point, without the format characters (Cf).
_IGNORABLE = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xE0000, 0xE0FFF),
)  # fmt: skip


def normalize_name(name: str) -> str:
    """Return the one spelling of a name: composed accents (NFC), single spaces, and no characters
    that are invisible or change the direction of text."""
    visible = "".join(" " if one in _BLANK else one for one in name if not _is_invisible(one))
    return " ".join(unicodedata.normalize("NFC", visible).split())


def visual_key(name: str) -> str:
    """Return a key that is equal for names that differ only in case or width."""
    return unicodedata.normalize("NFKC", one_line(normalize_name(name))).casefold()


def lookalikes(names: Iterable[str]) -> list[list[str]]:
    """Return the groups of different names that look the same."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        groups[visual_key(name)].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _is_invisible(one: str) -> bool:
    if one.isascii():
        return not one.isprintable() and not one.isspace()
    return unicodedata.category(one) in ("Cc", "Cf", "Cs") or any(
        first <= ord(one) <= last for first, last in _IGNORABLE
    )
