"""Statements over several lines, of which a traceback shows the first."""

import re
from collections.abc import Sequence

MAX_LINES = 12
"""Lines that a statement may go on for."""

MAX_LINE = 200
"""Characters of each."""

_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_COMMENT = re.compile(r"(?:^|\s+)#[^'\"]*$")


def statement_at(lines: Sequence[str], number: int) -> str:
    """Return the statement that begins at a line, or the part of it that does, on one line; the
    line alone if its brackets do not close soon.

    **Arguments:** `number`: of the line, from 1.
    """
    first = lines[number - 1].strip()
    parts: list[str] = []
    depth = 0
    for line in lines[number - 1 : number - 1 + MAX_LINES]:
        part = _COMMENT.sub("", line[:MAX_LINE]).strip()
        parts.append(part)
        bare = _TEXT.sub("", part)
        depth += sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))
        if depth <= 0:
            break
    if depth != 0 or len(parts) == 1:
        return first
    text = re.sub(r"([(\[{]) ", r"\1", " ".join(filter(None, parts)))
    return re.sub(r",? ([)\]}])", r"\1", text)
