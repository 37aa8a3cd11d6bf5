"""The learner's code beside the solution, line by line.

Docstrings count as equal, whatever they say: they are the pack's own words, or the learner's notes.
"""

import ast
import difflib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.style import Style
from rich.syntax import Syntax, SyntaxTheme
from rich.table import Table
from rich.text import Text

_WORD = re.compile(r"\w+|\s+|[^\w\s]")

SIMILAR = 0.5
"""How alike two lines must be for their differences to be marked word by word."""


class Line(Struct, frozen=True):
    """A line of one side: its number from 1, its text, and the parts (from, to) that differ."""

    number: int
    text: str
    changed: bool = False
    parts: tuple[tuple[int, int], ...] = ()


Row = tuple[Line | None, Line | None]
"""A line of the learner's code and one of the solution; None where a side has none."""


def rows(code: str, solution: str, *, docstrings: bool = False) -> list[Row]:
    """Return both texts side by side.

    **Arguments:** `docstrings`: whether these are compared, too.
    """
    left, right = code.rstrip().splitlines(), solution.rstrip().splitlines()
    told_left = set() if docstrings else docstring_lines(code)
    told_right = set() if docstrings else docstring_lines(solution)
    compared_left = [n for n in range(len(left)) if n not in told_left]
    compared_right = [n for n in range(len(right)) if n not in told_right]
    a = [left[n].rstrip() for n in compared_left]
    b = [right[n].rstrip() for n in compared_right]
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    found: list[Row] = []
    done_left = done_right = 0

    def catch_up(to_left: int, to_right: int) -> None:
        """Add the docstrings that come before these lines, beside each other."""
        nonlocal done_left, done_right
        a = [Line(n + 1, left[n]) for n in range(done_left, to_left)]
        b = [Line(n + 1, right[n]) for n in range(done_right, to_right)]
        found.extend((_at(a, number), _at(b, number)) for number in range(max(len(a), len(b))))
        done_left, done_right = max(done_left, to_left), max(done_right, to_right)

    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for offset in range(max(i2 - i1, j2 - j1)):
            i = compared_left[i1 + offset] if i1 + offset < i2 else None
            j = compared_right[j1 + offset] if j1 + offset < j2 else None
            catch_up(i if i is not None else done_left, j if j is not None else done_right)
            if tag == "equal" and i is not None and j is not None:
                found.append((Line(i + 1, left[i]), Line(j + 1, right[j])))
            else:
                found.append(_different(i, j, left, right))
            done_left = i + 1 if i is not None else done_left
            done_right = j + 1 if j is not None else done_right
    catch_up(len(left), len(right))
    return found


def _at(lines: Sequence[Line], number: int) -> Line | None:
    return lines[number] if number < len(lines) else None


def _different(i: int | None, j: int | None, left: Sequence[str], right: Sequence[str]) -> Row:
    """Return a row whose lines differ, with the words that do if the lines are alike."""
    if i is None or j is None:
        return (
            Line(i + 1, left[i], changed=bool(left[i].strip())) if i is not None else None,
            Line(j + 1, right[j], changed=bool(right[j].strip())) if j is not None else None,
        )
    a, b = _WORD.findall(left[i]), _WORD.findall(right[j])
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    parts_left: list[tuple[int, int]] = []
    parts_right: list[tuple[int, int]] = []
    if matcher.ratio() >= SIMILAR:
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "equal":
                parts_left += _span(a, i1, i2)
                parts_right += _span(b, j1, j2)
    return (
        Line(i + 1, left[i], True, tuple(parts_left)),
        Line(j + 1, right[j], True, tuple(parts_right)),
    )


def _span(words: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    if start == end:
        return []
    before = sum(map(len, words[:start]))
    return [(before, before + sum(map(len, words[start:end])))]


def docstring_lines(code: str) -> set[int]:
    """Return the lines, from 0, of all docstrings; none if the code is no Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                found |= set(range(first.lineno - 1, first.end_lineno or first.lineno))
    return found


# --- rendering -------------------------------------------------------------------------------


class Colours(Struct, frozen=True):
    """How differences are painted: the theme of the code, and the styles of the two sides."""

    code: SyntaxTheme
    yours: str
    solution: str
    quiet: str


def side_by_side(found: Sequence[Row], colours: Colours) -> Table:
    """Render both sides in two columns."""
    table = Table(box=None, expand=True, pad_edge=False, padding=(0, 1, 0, 0))
    for title in ("your code", "the solution"):
        table.add_column("", width=_digits(found), justify="right", style=colours.quiet)
        table.add_column("", width=1)
        table.add_column(title, ratio=1, overflow="fold", header_style=colours.quiet)
    for left, right in found:
        table.add_row(
            *_cells(left, "-", colours.yours, colours),
            *_cells(right, "+", colours.solution, colours),
        )
    return table


def unified(found: Sequence[Row], colours: Colours) -> Table:
    """Render one side under the other where they differ."""
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    table.add_column(width=_digits(found), justify="right", style=colours.quiet)
    table.add_column(width=1)
    table.add_column(ratio=1, overflow="fold")
    for row in _in_order(found):
        table.add_row(*_cells(*row, colours))
    return table


def _in_order(found: Sequence[Row]) -> Iterator[tuple[Line, str, str]]:
    """Yield each line with its mark: runs of differences with the learner's lines first."""
    waiting: list[Line] = []
    for left, right in found:
        changed = (left is not None and left.changed) or (right is not None and right.changed)
        if not changed:
            yield from ((line, "+", "solution") for line in waiting)
            waiting = []
            if right is not None:  # an equal line, or the solution's words
                yield right, " ", ""
            continue
        if left is not None:
            yield left, "-", "yours"
        if right is not None:
            waiting.append(right)
    yield from ((line, "+", "solution") for line in waiting)


def _cells(line: Line | None, mark: str, style: str, colours: Colours) -> tuple[Text, Text, Text]:
    if line is None:
        return Text(), Text(), Text()
    style = getattr(colours, style, style)
    text = highlighted(line.text, colours.code)
    if line.changed:
        text.stylize(style)
        for start, end in line.parts:
            text.stylize(Style(bold=True, reverse=True), start, end)
    shown = mark if line.changed else " "
    return Text(str(line.number)), Text(shown, style if line.changed else ""), text


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
