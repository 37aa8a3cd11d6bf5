"""Solutions with marked regions, from which starters are made.

    def cosine(a, b):
        # solution
        return a @ b / (jnp.linalg.norm(a) * jnp.linalg.norm(b))
        # end

In the starter, `raise NotImplementedError` replaces the region, or the text of its lines
`# instead: …`. Learners see the solution without the markers.
"""

import io
import re
import tokenize
from collections.abc import Sequence
from typing import NamedTuple

from tutor.expressions import BadPython, defined_names

MARKER = re.compile(r"#[ \t]*(?:(solution)|(end)|instead:(?: (.*)|[ \t]*))[ \t]*")
_MARKED = re.compile(r"^[ \t]*#[ \t]*solution[ \t]*$", re.MULTILINE)
_STUB = "raise NotImplementedError"


class BadMarkers(ValueError):
    """Markers from which no starter can be made; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int, remedy: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.remedy = remedy


class Region(NamedTuple):
    """The lines of the two markers, the indentation of the first, and the lines `# instead: …`:
    their numbers and their texts. All lines count from 1."""

    first: int
    last: int
    indent: str
    instead: tuple[tuple[int, str], ...]

    @property
    def replacement(self) -> list[str]:
        rows = [text for _, text in self.instead] if self.instead else [_STUB]
        return [f"{self.indent}{row}" if row else "" for row in rows]


def has_regions(source: str) -> bool:
    """Return whether a starter can be made from a solution."""
    try:
        return _MARKED.search(source) is not None and bool(_regions(source))
    except BadMarkers:
        return False


def starter_of(source: str) -> str:
    """Return the starter made from a solution. Raises: BadMarkers: nothing is marked, or not so
    that the starter is valid Python."""
    try:
        defined_names(source)
    except BadPython as error:
        what = f"invalid Python: {error}"
        raise BadMarkers(what, error.line, error.column, "correct it") from None
    regions = _regions(source)
    if not regions:
        what = "the lesson has no `starter`, and no region of its solution is marked"
        remedy = "write `# solution` above and `# end` below what learners are to write"
        raise BadMarkers(what, 1, 1, remedy)
    made = _replaced(source, regions)
    for one in regions if _fault(made) else ():
        if fault := _fault(_replaced(source, [one])):
            what = f"the starter made from this region is not valid Python: {fault}"
            remedy = "mark whole statements, or write `# instead: …` with what stands there"
            raise BadMarkers(what, one.first, len(one.indent) + 1, remedy)
    if fault := _fault(made):
        what = f"the starter made from these regions is not valid Python: {fault}"
        raise BadMarkers(what, regions[0].first, 1, "mark whole statements")
    return made


def without_markers(source: str) -> str:
    """Return a solution as people see it. One whose markers are not in order stays as it is: they
    may be ordinary comments."""
    if not has_regions(source):
        return source
    rows = source.split("\n")
    return "\n".join(rows[number - 1] for number in solution_lines(source))


def solution_lines(source: str) -> list[int]:
    """Return the number that each line of `without_markers` has in the file."""
    regions = _regions(source) if has_regions(source) else []
    markers = {line for one in regions for line in (one.first, one.last)}
    markers |= {line for one in regions for line, _ in one.instead}
    return [number for number in range(1, source.count("\n") + 2) if number not in markers]


def _regions(source: str) -> list[Region]:
    """Return the marked regions. Raises: BadMarkers: the markers are not in order."""
    found: list[Region] = []
    opened: tuple[int, str] | None = None
    instead: list[tuple[int, str]] = []
    for line, indent, marker in _markers(source):
        column = len(indent) + 1
        opens, ends, text = marker.groups()
        if opens and opened is not None:
            what = f"a region begins in the one that began at line {opened[0]}"
            raise BadMarkers(what, line, column, "write `# end` before it")
        if opens:
            opened, instead = (line, indent), []
        elif opened is None:
            what = "`# end` ends no region" if ends else "`# instead:` stands outside a region"
            raise BadMarkers(what, line, column, "write `# solution` above it, or remove it")
        elif ends:
            found.append(Region(opened[0], line, opened[1], tuple(instead)))
            opened = None
        else:
            instead.append((line, (text or "").rstrip()))
    if opened is not None:
        line, indent = opened
        remedy = "write `# end` below what learners are to write"
        raise BadMarkers("this region has no end", line, len(indent) + 1, remedy)
    return found


def _markers(source: str) -> list[tuple[int, str, re.Match[str]]]:
    """Return the line and indentation of each marker. Comments only: a text may hold the same."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            indent = token.line[: token.start[1]]
            alone = token.type == tokenize.COMMENT and not indent.strip()
            if alone and (marker := MARKER.fullmatch(token.string)) is not None:
                found.append((token.start[0], indent, marker))
    except (tokenize.TokenError, SyntaxError):
        return []  # not valid Python, which is reported elsewhere
    return found


def _replaced(source: str, regions: Sequence[Region]) -> str:
    rows = source.split("\n")
    for one in reversed(regions):
        rows[one.first - 1 : one.last] = one.replacement
    return "\n".join(rows)


def _fault(source: str) -> str:
    """Return what is wrong with a module's syntax; empty if nothing is."""
    try:
        defined_names(source)
    except BadPython as error:
        return str(error)
    return ""
