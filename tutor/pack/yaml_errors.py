"""Explaining libyaml's errors: where the mistake is, what it is, and how to correct it.

libyaml notices lines that are indented too far or too little late, and reports what it would have
needed there: a colon, a key, a dash. The collections that were open above the line show how it
should have been indented.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import yaml

Explanation: TypeAlias = tuple[int, int, str, str]
"""Line and column (from 1), what is wrong there, and a remedy."""

NO_TAB = "tab in the indentation", "use spaces"

_KEY = re.compile(r"""(- +)*("[^"]*"|'[^']*'|[\w.-]+)(:(\s|$)|$)""")
_PYTHON = re.compile(r"(class|def|for|from|if|import|return|while|with)\b")

_OPENED = ("quoted", "flow", "simple key")
"""Contexts of errors noticed far below their cause: an unclosed quote, a missing colon."""

_CLOSE_QUOTE = "close the quote; write a quote inside as '' or \\\""
_DASHES = "align every `-` of the list"
_KEYS = "align all keys of the mapping, and indent all lines of a text"

_CAUSES = (
    ("mapping values are not allowed", "quote text that contains a colon, or use a `|` block"),
    ("unknown escape", "in \"…\" a backslash starts an escape; double it, or use '…'"),
    ("quoted scalar", _CLOSE_QUOTE),
    ("flow sequence", "close the bracket: [one, two]; quote items that contain a comma or bracket"),
    ("flow mapping", "close the brace: {a: 1, b: 2}; quote values that contain a comma or brace"),
    ("could not find expected ':'", "write `name: value`, with a space after the colon"),
    ("cannot start any token", "quote text that begins with this character"),
    ("block sequence entries are not allowed", "begin the list on a new line below its key"),
    ("alias", "quote text that begins with *, or use a `|` block"),
    ("anchor", "quote text that begins with &, or use a `|` block"),
    ("block scalar", "end the line after `|`, and indent the text below it"),
    ("tag", "quote text that begins with !"),
    ("directive", "quote text that begins with %"),
)
"""Parts of libyaml's messages, and remedies; the first match applies."""

_ANY_CAUSE = "check the quotes, brackets and indentation of this line and the one above"


def explained(error: yaml.MarkedYAMLError, text: str, events: Iterable[yaml.Event]) -> Explanation:
    """Return the likely cause of an error. `events`: libyaml's, which end with the error."""
    return _Explainer(text.split("\n"), events).explained(error)


class _Level(NamedTuple):
    """A collection above the error. `column`: of its keys or dashes, from 0; `line`: that of the
    last one."""

    column: int
    line: int
    dashes: bool
    flow: bool


class _Block(NamedTuple):
    """A `|` or `>` block. `line` is that of its header, `end` that of the first line below it."""

    line: int
    end: int


class _Explainer:
    """Finds causes in the lines of a file, and in what libyaml read of them."""

    def __init__(self, lines: Sequence[str], events: Iterable[yaml.Event]) -> None:
        self._lines = lines
        self._levels: list[_Level] = []
        self._ended = 0
        self._block: _Block | None = None
        self._below_block = False
        self._quoted = (1, 1), 1
        with suppress(yaml.MarkedYAMLError):
            for event in events:
                self._take(event)
        open_levels = self._levels[: len(self._levels) - self._ended]
        self._in_flow = any(level.flow for level in open_levels)
        self._levels = [level for level in self._levels if not level.flow]

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionEndEvent):
            self._ended += 1  # its level stays until the next node: the error may be in between
        start, end = event.start_mark, event.end_mark
        if not isinstance(event, yaml.NodeEvent) or start is None or end is None:
            return
        del self._levels[len(self._levels) - self._ended :]
        self._ended = 0
        line, sequence = start.line + 1, isinstance(event, yaml.SequenceStartEvent)
        if self._levels:
            above = self._levels[-1]
            if above.dashes or (start.column == above.column and not sequence):
                self._levels[-1] = above._replace(line=line)
        self._below_block = False
        if isinstance(event, yaml.CollectionStartEvent):
            self._levels.append(_Level(start.column, line, sequence, bool(event.flow_style)))
        elif isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">"):
            self._block, self._below_block = _Block(line, end.line + 1), True
        elif isinstance(event, yaml.ScalarEvent) and event.style:
            self._quoted = (line, start.column + 1), end.line + 1

    def explained(self, error: yaml.MarkedYAMLError) -> Explanation:
        """Return where the error is, what it is, and a remedy."""
        context, problem = error.context or "", error.problem or ""
        mark, opening = error.problem_mark or error.context_mark, error.context_mark
        if mark is not None and self._row(mark.line + 1)[mark.column : mark.column + 1] == "\t":
            return mark.line + 1, mark.column + 1, *NO_TAB
        if opening is not None and any(word in context for word in _OPENED):
            below = mark is None or mark.line != opening.line or "end of stream" in problem
            mark = opening if below else mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        if found := self._interrupted(line) or self._misplaced(problem, line, column):
            return found
        said = "not valid YAML: " + ", ".join(part for part in (context, problem) if part)
        remedy = next((remedy for part, remedy in _CAUSES if part in said), _ANY_CAUSE)
        if "could not find expected ':'" in problem and _indent(self._row(line - 1)) >= column:
            remedy += "; or indent the line, if it belongs to those above"
        if "did not find expected" in problem and "block" in context:
            if self._ends_quote(line):
                what = f"not valid YAML: the string that begins at this quote ends on line {line}"
                return *self._quoted[0], what, _CLOSE_QUOTE
            if self._row(line)[: column - 1].strip():
                remedy = "put the whole value in quotes, or remove the text after it"
            else:
                remedy = _DASHES if self._row(line)[column - 1 : column] == "-" else _KEYS
        return line, column, said, remedy

    def _row(self, line: int) -> str:
        return self._lines[line - 1] if line <= len(self._lines) else ""

    def _ends_quote(self, line: int) -> bool:
        """Return whether a quoted string that began above ends on this line."""
        start, end = self._quoted
        return start[0] < end == line

    def _interrupted(self, line: int) -> Explanation | None:
        """Explain a line, at the error or above, that ends the last block of text although it
        belongs to it; None if the line below the block can be an entry."""
        if self._block is None:
            return None
        number = self._first_below(self._block)
        content, column = self._row(number).strip(), _indent(self._row(number))
        entry = _KEY.match(content) or content.startswith("- ")
        # At the margin, all keys are single words.
        if column and not _PYTHON.match(content):
            entry = entry or ":" in content.partition(" #")[0]
        if not content or entry or number > line:
            return None
        return self._of_block(number, self._block)

    def _misplaced(self, problem: str, line: int, column: int) -> Explanation | None:
        """Explain a line whose indentation is the likely cause of an error; None if the cause is
        another."""
        before = self._row(line)[: column - 1].strip()
        continues = ""
        if "mapping values are not allowed" in problem and _KEY.fullmatch(before):
            if before.startswith("- "):
                return merged(self._lines, line)
            if above := self._unfinished(line):
                what = f"this line has no colon, so line {line} continues it"
                remedy = "write `name: value`, with a space after the colon"
                return above, _indent(self._row(above)) + 1, what, remedy
            continues = "; if it continues the text above, put all of that in quotes"
        elif "not find expected" not in problem or before or self._ends_quote(line):
            return None
        if self._in_flow or not self._row(line).strip():
            return None
        found = self._out_of_line(line)
        return (*found[:3], found[3] + continues) if found is not None else None

    def _out_of_line(self, number: int) -> Explanation | None:
        """Explain the indentation of a line below all nodes so far; None if nothing is wrong."""
        row = self._row(number)
        column, content = _indent(row), row.strip()
        dash = content.startswith("- ") or content == "-"
        lists = any(level.dashes for level in self._levels)
        block = self._block if self._below_block else None
        if block is not None and self._first_below(block) != number:
            block = None
        if block is not None and not _KEY.match(content) and not (dash and lists):
            return self._of_block(number, block)
        here = [level.dashes for level in self._levels if level.column == column]
        if dash in here:
            return None
        beside_dash = True in here
        if beside_dash and content.startswith("-"):
            what, remedy = "there is no space after the dash", "write `- ` and then the item"
            return number, column + 1, what, remedy
        levels = [level for level in self._levels if level.dashes == dash] or self._levels
        outer = max((level for level in levels if level.column < column), default=None)
        inner = min((level for level in levels if level.column > column), default=None)
        near = sorted(filter(None, (inner, outer)), key=lambda level: abs(level.column - column))
        if not near:
            return None
        how = "" if near[1:] else " deeper" if outer is not None else " less"
        compared = f"indented{how} than the lines before it: by" if how else "indented by"
        where = " and ".join(
            f"line {level.line} has {level.column or 'none'} before {self._word(level)}"
            for level in near
        )
        what = f"this line is {compared} {_spaces(column)}, where {where}"
        words = " or ".join(f"{self._word(level)} of line {level.line}" for level in near)
        remedy = f"align it with {words}"
        if beside_dash:
            remedy += ", or begin it with `- `"
        if block is not None:
            remedy += "; if it belongs to the text above, indent it like that"
        return number, column + 1, what, remedy

    def _word(self, level: _Level) -> str:
        """Return the key or dash of a level, as it is on its line."""
        found = _KEY.match(self._row(level.line)[level.column :])
        return f"`{'-' if level.dashes or found is None else found[2]}`"

    def _first_below(self, block: _Block) -> int:
        """Return the first line below a block that is neither blank nor a comment; the last line
        if there is none."""
        rest = range(block.end, len(self._lines))
        filled = (one for one in rest if self._row(one).strip()[:1] not in ("", "#"))
        return next(filled, len(self._lines))

    def _of_block(self, number: int, block: _Block) -> Explanation:
        """Explain a line that should be one of a block's."""
        column = _indent(self._row(number))
        rows = [one for one in range(block.line + 1, block.end) if self._row(one).strip()]
        if not rows:
            outer = _indent(self._row(block.line))
            what = f"this line is not indented deeper than line {block.line}, whose text it begins"
            remedy = f"indent all lines of the text by {_spaces(outer + 2)}"
            return number, column + 1, what, remedy
        first = _indent(self._row(rows[0]))
        what = (
            f"this line is indented by {_spaces(column)}, less than the text above it, which it "
            f"ends: line {rows[0]} has {first}"
        )
        remedy = f"indent all lines of a text by at least as much as its first, {_spaces(first)}"
        return number, column + 1, what, remedy

    def _unfinished(self, number: int) -> int:
        """Return the line above a `key: value` line that a missing colon lets go on, 0 if that is
        not what is wrong: its content begins at the same column."""
        above = _above(self._lines, number)
        if not above or self._in_flow:
            return 0
        row = self._row(above)
        content = re.sub(r"^ *(- +)*", "", row)
        aligned = len(row) - len(content) == _indent(self._row(number))
        return above if aligned and not _KEY.match(content) else 0


def merged(lines: Sequence[str], number: int) -> Explanation:
    """Explain a line that begins with a dash but continues the text of the line above."""
    column = _indent(lines[number - 1])
    above = _above(lines, number)
    for row in reversed(lines[: above - 1]):
        if row.strip() and _indent(row) == column and row.lstrip().startswith("- "):
            if _indent(lines[above - 1]) > column:
                break
            what = (
                f"this line is not indented like those above, but line {number} goes on with them"
            )
            remedy = "indent it, if it belongs to an item of the list"
            return above, _indent(lines[above - 1]) + 1, what, remedy
        if row.strip() and _indent(row) < column:
            break
    what = f"this line is indented deeper than line {above}, so it continues its text"
    remedy = "align every `-` of the list; put text that contains a dash in quotes"
    return number, column + 1, what, remedy


def _above(lines: Sequence[str], number: int) -> int:
    """Return the nearest line above that is not blank, 0 if there is none."""
    return next((one for one in range(number - 1, 0, -1) if lines[one - 1].strip()), 0)


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def _spaces(count: int) -> str:
    return f"{count or 'no'} space{'' if count == 1 else 's'}"
