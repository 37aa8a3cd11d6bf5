"""The learner's code beside the solution, line by line.

Docstrings count as equal, whatever they say: they are the pack's own words, or the learner's notes.
"""

import ast
import difflib
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, starmap, zip_longest

from msgspec import Struct
from msgspec.structs import replace
from rich.style import Style
from rich.syntax import Syntax, SyntaxTheme
from rich.table import Table
from rich.text import Text

from tutor.foreign.python_source import parse

_WORD = re.compile(r"\w+|\s+|[^\w\s]")

SIMILAR = 0.5
"""How alike two lines must be for their differences to be marked word by word."""


class Line(Struct, frozen=True):
    """A line of one side: its number from 1, its text, and the parts (from, to) that differ."""

    number: int
    text: str
    docstring: bool = False
    changed: bool = False
    parts: tuple[tuple[int, int], ...] = ()


Row = tuple[Line | None, Line | None]
"""A line of the learner's code and one of the solution; None where a side has none."""


def rows(code: str, solution: str, *, docstrings: bool = False) -> list[Row]:
    """Return both texts side by side.

    **Arguments:** `docstrings`: whether these are compared, too.
    """
    left, right = _blocks(code, docstrings), _blocks(solution, docstrings)
    a, b = ([_key(block) for block in side] for side in (left, right))
    found: list[Row] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            for one, other in zip(left[i1:i2], right[j1:j2], strict=True):
                found += zip_longest(one, other)
        else:
            found += starmap(_different, _paired(left[i1:i2], right[j1:j2]))
    return found


def _blocks(code: str, docstrings: bool) -> list[list[Line]]:
    """Return the lines of a text, those of a docstring together unless they are compared."""
    told = set() if docstrings else docstring_lines(code)
    blocks: list[list[Line]] = []
    for row, text in enumerate(code.rstrip().splitlines()):
        line = Line(row + 1, text, row in told)
        if blocks and line.docstring and blocks[-1][0].docstring:
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _key(block: Sequence[Line]) -> str | None:
    return None if block[0].docstring else block[0].text.rstrip()


def _paired(left: Iterable[list[Line]], right: Iterable[list[Line]]) -> Iterator[Row]:
    """Yield lines beside each other; a docstring has no code beside it."""
    sides = [deque(chain.from_iterable(side)) for side in (left, right)]
    while any(sides):
        docstring = any(side and side[0].docstring for side in sides)
        a, b = (
            side.popleft() if side and side[0].docstring == docstring else None for side in sides
        )
        yield a, b


def _different(left: Line | None, right: Line | None) -> Row:
    """Return a row whose lines differ, with the words that do if the lines are alike."""
    if left is None or right is None or left.docstring:
        return _alone(left), _alone(right)
    a, b = _WORD.findall(left.text), _WORD.findall(right.text)
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    parts_left: list[tuple[int, int]] = []
    parts_right: list[tuple[int, int]] = []
    if matcher.ratio() >= SIMILAR:
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "equal":
                parts_left += _span(a, i1, i2)
                parts_right += _span(b, j1, j2)
    return (
        replace(left, changed=True, parts=tuple(parts_left)),
        replace(right, changed=True, parts=tuple(parts_right)),
    )


def _alone(line: Line | None) -> Line | None:
    changed = line is not None and not line.docstring and bool(line.text.strip())
    return replace(line, changed=changed) if line is not None else None


def _span(words: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    if start == end:
        return []
    before = sum(map(len, words[:start]))
    return [(before, before + sum(map(len, words[start:end])))]


def docstring_lines(code: str) -> set[int]:
    """Return the lines, from 0, of all docstrings; none if the code is no Python."""
    try:
        tree = parse(code)
    except SyntaxError:
        return set()
    found: set[int] = set()
    for node in ast.walk(tree):
        kinds = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        if isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            found |= set(range(first.lineno - 1, first.end_lineno or first.lineno))
    return found


# --- rendering -------------------------------------------------------------------------------


YOURS, SOLUTION, QUIET = "red", "green", "dim"
"""Styles of the two sides, and of what is not code."""


def side_by_side(found: Sequence[Row], theme: SyntaxTheme) -> Table:
    """Render both sides in two columns."""
    table = Table(box=None, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("your code", "the solution"):
        table.add_column("", width=_digits(found), justify="right", style=QUIET)
        table.add_column("", width=1)
        table.add_column(title, ratio=1, overflow="fold", header_style=QUIET)
    for left, right in found:
        table.add_row(*_cells(left, "-", YOURS, theme), *_cells(right, "+", SOLUTION, theme))
    return table


def unified(found: Sequence[Row], theme: SyntaxTheme) -> Table:
    """Render one side under the other where they differ: runs of differences with the learner's
    lines first."""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    table.add_column(width=_digits(found), justify="right", style=QUIET)
    table.add_column(width=1)
    table.add_column(ratio=1, overflow="fold")
    for differ, run in groupby(found, lambda row: any(line and line.changed for line in row)):
        lefts, rights = zip(*run, strict=True)
        for line in filter(None, lefts if differ else ()):
            table.add_row(*_cells(line, "-", YOURS, theme))
        for line in filter(None, rights):  # an equal line, or the solution's words
            table.add_row(*_cells(line, "+", SOLUTION, theme))
    return table


def _cells(line: Line | None, mark: str, style: str, theme: SyntaxTheme) -> tuple[Text, Text, Text]:
    if line is None:
        return Text(), Text(), Text()
    text = highlighted(line.text, theme)
    if line.changed:
        text.stylize(style)
        for start, end in line.parts:
            text.stylize(Style(bold=True, reverse=True), start, end)
    shown, style = (mark, style) if line.changed else (" ", "")
    return Text(str(line.number)), Text(shown, style), text


def _digits(found: Sequence[Row]) -> int:
    return max(
        (len(str(line.number)) for row in found for line in row if line is not None), default=1
    )


def highlighted(text: str, theme: SyntaxTheme) -> Text:
    """Return a line of Python with syntax highlighting."""
    line = Syntax("", "python", theme=theme, background_color="default").highlight(text)
    line.rstrip()
    line.no_wrap = False
    return line
