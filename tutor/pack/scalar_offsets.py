"""Where a character of a YAML scalar stands in the file.

Text is not always in the file as it is read: an escape is longer there, and line breaks are
folded together with the spaces around them. What folding never touches are the characters that
are not blank; so these are matched, the first to the first, the second to the second.
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
    """The offset in `written` (what stands in the file, without quotes) of the character at
    `line` and `column` (from 1) of `text` (what it is read as)."""
    lines = text.split("\n")
    index = min(sum(len(one) + 1 for one in lines[: line - 1]) + column - 1, len(text))
    before = len(text[:index]) - sum(map(text[:index].count, BLANK))
    tokens = _TOKENS.get(style or "", _CHARACTERS).finditer(written)
    matched = [token for token in tokens if not _blank(token[0])]
    if text[index : index + 1] not in ("", *BLANK) and before < len(matched):
        return matched[before].start()
    if before == 0:
        return 0
    # A blank, or the end: as far behind the last character that is not blank.
    return matched[before - 1].end() + index - len(text[:index].rstrip(BLANK))


def _blank(token: str) -> bool:
    if token in BLANK or token in _BLANK_ESCAPES:
        return True
    digits = token[2:] if token[:2] in ("\\x", "\\u", "\\U") else ""
    return bool(digits) and chr(int(digits, 16)) in BLANK
