"""Mapping characters of a YAML scalar's value to positions in the file.

The value differs from its source: escapes are longer there, and line breaks are folded together
with surrounding spaces. Folding never changes non-blank characters, so the n-th non-blank
character of the value is the n-th in the source.
"""

import re

BLANK = " \t\n"

_TOKENS = {
    '"': re.compile(r"\\x..|\\u....|\\U........|\\.|.", re.DOTALL),
    "'": re.compile(r"''|.", re.DOTALL),
}
_CHARACTERS = re.compile(".", re.DOTALL)
_BLANK_ESCAPES = ("\\t", "\\\t", "\\n", "\\ ", "\\\n")


def offset(written: str, style: str | None, text: str, line: int, column: int) -> int:
    """Return the offset in `written` (the source, without quotes) of the character at `line` and
    `column` (from 1) of `text` (the value)."""
    lines = text.split("\n")
    index = min(sum(len(one) + 1 for one in lines[: line - 1]) + column - 1, len(text))
    before = len(text[:index]) - sum(map(text[:index].count, BLANK))
    tokens = _TOKENS.get(style or "", _CHARACTERS).finditer(written)
    matched = [token for token in tokens if not _blank(token[0])]
    if text[index : index + 1] not in ("", *BLANK) and before < len(matched):
        return matched[before].start()
    if before == 0:
        return 0
    # A blank, or the end: count from the last non-blank character.
    return matched[before - 1].end() + index - len(text[:index].rstrip(BLANK))


def _blank(token: str) -> bool:
    if token in BLANK or token in _BLANK_ESCAPES:
        return True
    digits = token[2:] if token[:2] in ("\\x", "\\u", "\\U") else ""
    return bool(digits) and chr(int(digits, 16)) in BLANK
