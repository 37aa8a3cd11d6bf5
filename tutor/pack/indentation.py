"""Finding lines of YAML that are indented too far or too little.

libyaml notices these late, and reports what it would have needed there: a colon, a key, a dash. The
collections that were open above the line show how it should have been indented.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple


class Level(NamedTuple):
    """A block collection at a line where YAML went wrong. `column`: of its keys or dashes, from 0;
    `line`: that of the last one."""

    column: int
    line: int
    dashes: bool


class Text(NamedTuple):
    """A `|` or `>` block. `line` is that of its header, `end` that of the first line below it."""

    line: int
    end: int


_PYTHON = re.compile(r"(class|def|for|from|if|import|return|while|with)\b")

KEY = re.compile(r"""(- +)*("[^"]*"|'[^']*'|[\w.-]+)(:(\s|$)|$)""")


def fault(
    lines: Sequence[str], number: int, levels: Sequence[Level], text: Text | None
) -> tuple[str, str] | None:
    """Return what is wrong with the indentation of a line and a remedy, or None if nothing is.

    **Arguments:** `number`: the line's, from 1; `levels`: the collections that are open above it,
    and those that it ends; `text`: the last block of text above it.
    """
    row = lines[number - 1]
    column = _indent(row)
    content = row.strip()
    dash = content.startswith("- ") or content == "-"
    aligned = any(one.column == column for one in levels if one.dashes == dash)
    below_text = text is not None and _below(lines, text) == number
    if text is not None and below_text:
        entry = KEY.match(content) or (dash and any(one.dashes for one in levels))
        if not entry:
            return _of_text(lines, number, column, text)
    if aligned:
        return None
    beside_dash = any(one.column == column for one in levels if one.dashes) and not dash
    if beside_dash and content.startswith("-"):
        return "there is no space after the dash", "write `- ` and then the item"
    same = [one for one in levels if one.dashes == dash] or [*levels]
    outer = max((one for one in same if one.column < column), default=None)
    inner = min((one for one in same if one.column > column), default=None)
    near = sorted(filter(None, (inner, outer)), key=lambda one: abs(one.column - column))
    if not near:
        return None
    how = "" if near[1:] else " deeper" if outer is not None else " less"
    compared = f"indented{how} than the lines before it: by" if how else "indented by"
    where = " and ".join(_described(lines, one) for one in near)
    message = f"this line is {compared} {_spaces(column)}, where {where}"
    remedy = "align it with " + " or ".join(f"{_word(lines, o)} of line {o.line}" for o in near)
    remedy += ", or begin it with `- `" if beside_dash else ""
    if text is not None and below_text:
        remedy += "; if it belongs to the text above, indent it like that"
    return message, remedy


def interrupted(lines: Sequence[str], text: Text) -> tuple[int, str, str] | None:
    """Return the line that ends a text although it belongs to it, what is wrong with it, and a
    remedy; None if the line below the text can be an entry of its own."""
    number = _below(lines, text)
    content, column = lines[number - 1].strip(), _indent(lines[number - 1])
    entry = KEY.match(content) or content.startswith("- ")
    # At the margin, all keys are single words.
    if column and not _PYTHON.match(content):
        entry = entry or ":" in content.partition(" #")[0]
    if not content or entry:
        return None
    return number, *_of_text(lines, number, column, text)


def _below(lines: Sequence[str], text: Text) -> int:
    """Return the first line below a text that is neither blank nor a comment; the last line if
    there is none."""
    rest = range(text.end, len(lines))
    filled = (one for one in rest if lines[one - 1].strip() and lines[one - 1].strip()[0] != "#")
    return next(filled, len(lines))


def unfinished(lines: Sequence[str], number: int) -> int:
    """Return the line above a `key: value` line that a missing colon lets go on, 0 if that is not
    what is wrong: its content begins at the same column."""
    above = _above(lines, number)
    if not above:
        return 0
    row = lines[above - 1]
    dashes = re.match(r" *(- +)*", row)
    column = dashes.end() if dashes is not None else 0
    return above if column == _indent(lines[number - 1]) and not KEY.match(row[column:]) else 0


def merged(lines: Sequence[str], number: int) -> tuple[int, str, str]:
    """Return the wrong line, what is wrong with it, and a remedy, for a line that begins with a
    dash but continues the text of the line above."""
    column = _indent(lines[number - 1])
    above = _above(lines, number)
    for row in reversed(lines[: above - 1]):
        if row.strip() and _indent(row) == column and row.lstrip().startswith("- "):
            if _indent(lines[above - 1]) > column:
                break
            what = (
                f"this line is not indented like those above, but line {number} goes on with them"
            )
            return above, what, "indent it, if it belongs to an item of the list"
        if row.strip() and _indent(row) < column:
            break
    what = f"this line is indented deeper than line {above}, so it continues its text"
    return number, what, "align every `-` of the list; put text that contains a dash in quotes"


def _of_text(lines: Sequence[str], number: int, column: int, text: Text) -> tuple[str, str]:
    rows = [one for one in range(text.line + 1, text.end) if lines[one - 1].strip()]
    if not rows:
        outer = _indent(lines[text.line - 1])
        message = f"this line is not indented deeper than line {text.line}, whose text it begins"
        return message, f"indent all lines of the text by {_spaces(outer + 2)}"
    first = _indent(lines[rows[0] - 1])
    message = (
        f"this line is indented by {_spaces(column)}, less than the text above it, which it ends: "
        f"line {rows[0]} has {first}"
    )
    return message, f"indent all lines of a text by at least as much as its first, {_spaces(first)}"


def _above(lines: Sequence[str], number: int) -> int:
    """Return the nearest line above that is not blank, 0 if there is none."""
    return next((one for one in range(number - 1, 0, -1) if lines[one - 1].strip()), 0)


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def _spaces(count: int) -> str:
    return f"{count or 'no'} space{'' if count == 1 else 's'}"


def _word(lines: Sequence[str], level: Level) -> str:
    """Return the key or dash of a level, as it stands on its line."""
    found = KEY.match(lines[level.line - 1][level.column :])
    return f"`{'-' if level.dashes or found is None else found[2]}`"


def _described(lines: Sequence[str], level: Level) -> str:
    return f"line {level.line} has {level.column or 'none'} before {_word(lines, level)}"
