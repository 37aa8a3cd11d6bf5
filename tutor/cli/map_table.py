"""The maps of tracks as text: `jaxtutor list --map`."""

import textwrap
from collections.abc import Iterator, Sequence

from tutor.manifest import MapEntry
from tutor.pack.maps import HEADER, TrackMap, fitted

_INDENT = "  "
_GAP = "  "


def map_lines(maps: Sequence[TrackMap], columns: int | None) -> Iterator[str]:
    """Yield a table of the rows of each track; the note of a row stands below it, after `#`.

    **Arguments:** `columns`: of the terminal, in which long texts are wrapped; None if no line is
    too long.
    """
    rows = [_cells(row) for one in maps for row in one.rows]
    widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
    if columns is not None:
        widths = fitted(widths, columns - len(_INDENT) - len(_GAP) * (len(HEADER) - 1))
    yield from _row(HEADER, widths)
    for one in maps:
        yield one.track.title
        for row in one.rows:
            yield from _row(_cells(row), widths)
            if row.note:
                yield from _note(row.note, columns)


def _cells(row: MapEntry) -> tuple[str, str, str]:
    return row.torch, row.jax, row.lesson or ""


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Yield a row, on as many lines as its longest cell needs."""
    wrapped = [_wrap(text, width) for text, width in zip(cells, widths, strict=True)]
    for number in range(max(map(len, wrapped))):
        parts = (
            (lines[number] if number < len(lines) else "").ljust(width)
            for lines, width in zip(wrapped, widths, strict=True)
        )
        yield (_INDENT + _GAP.join(parts)).rstrip()


def _wrap(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    # Further lines are indented, or they would look like rows.
    indent = "  " if width > 8 else ""
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)


def _note(note: str, columns: int | None) -> Iterator[str]:
    first, more = _INDENT * 2 + "# ", _INDENT * 3
    if columns is None or columns <= 2 * len(more):
        yield first + note
    else:
        yield from textwrap.wrap(note, columns, initial_indent=first, subsequent_indent=more)
