"""A table of what PyTorch code becomes in JAX: to choose from, or only to look at."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from tutor.manifest import MapEntry, Track
from tutor.pack.maps import HEADER, TrackMap, fitted
from tutor.ui.widgets.list_lines import cut_to
from tutor.ui.widgets.row_list import RowList

GAP = 2
"""Columns between two texts."""

LESSONS_FROM = 100
"""Width from which the lessons are shown, too."""


class MapTable(RowList[MapEntry | Track], can_focus=False):
    """One line for each row of a map, or the title of its track, below a header."""

    HEADER_LINES = 1
    DEFAULT_CSS = """
    MapTable {
        & > .row-list--quiet { text-style: bold; }
        & > .row-list--title { color: $text-disabled; }
    }
    """

    def can_be_chosen(self, row: MapEntry | Track) -> bool:
        return not self.is_title(row)

    def is_title(self, row: MapEntry | Track) -> bool:
        return isinstance(row, Track)

    def show(self, maps: Sequence[TrackMap], *, titles: bool, cursor: bool) -> None:
        """Show other rows.

        **Arguments:** `titles`: whether each track's title stands above its rows; `cursor`: whether
        it is on the first row.
        """
        rows: list[MapEntry | Track] = []
        for one in maps:
            rows += [one.track, *one.rows] if titles else one.rows
        self._show_rows(rows)
        if cursor:
            self._go(0)

    def _set_rows(self, rows: Iterable[MapEntry | Track]) -> None:
        super()._set_rows(rows)
        self._needs = needs([row for row in self._rows if isinstance(row, MapEntry)])

    @property
    def highlighted(self) -> MapEntry | None:
        """The row under the cursor."""
        row = self.highlighted_row
        return row if isinstance(row, MapEntry) else None

    @property
    def cut(self) -> bool:
        """Whether the row under the cursor is longer than its line."""
        row = self.highlighted
        if row is None:
            return False
        texts = (row.torch, row.jax)
        return any(cell_len(text) > width for text, width in zip(texts, self._widths, strict=False))

    @property
    def _widths(self) -> list[int]:
        return column_widths(self._needs, self.scrollable_content_region.width)

    def on_resize(self) -> None:
        super().on_resize()
        self.post_message(self.Highlighted())  # more or less of its row may be cut

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y - 1
        if y == 0:
            return self._strip(joined(HEADER, self._widths), "row-list--quiet")
        if number >= len(self._rows):
            return self._strip("")
        row = self._rows[number]
        if isinstance(row, Track):
            return self._strip(" ".join(row.title.split("\n")), "row-list--title")
        strip = self._strip(joined(cells(row), self._widths), *self._state(number))
        return strip.apply_meta({"row": number})

    def _strip(self, text: str, *styles: str) -> Strip:
        width = self.scrollable_content_region.width
        style = self.get_visual_style("row-list--row", *styles).rich_style
        line = Strip([Segment(cut_to(text, width), style)])
        return line.extend_cell_length(width, style.background_style)


class MapPicture:
    """The rows of a map, to look at: one line each, as wide as there is room."""

    def __init__(self, rows: Sequence[MapEntry]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = column_widths(needs(self._rows), options.max_width)
        yield Text(joined(HEADER, widths), "bold dim", no_wrap=True)
        for row in self._rows:
            yield Text(joined(cells(row), widths), no_wrap=True)


def cells(row: MapEntry) -> tuple[str, str, str]:
    return row.torch, row.jax, row.lesson or ""


def needs(rows: Sequence[MapEntry]) -> tuple[int, int, int]:
    """Return the width that each column needs."""
    first, second, third = (
        max(map(cell_len, column))
        for column in zip(HEADER, *(cells(row) for row in rows), strict=True)
    )
    return first, second, third


def column_widths(needed: Sequence[int], room: int) -> list[int]:
    """Return the widths of the columns that are shown: without that of lessons in little room."""
    shown = needed if room >= LESSONS_FROM else needed[:2]
    return fitted(shown, room - GAP * (len(shown) - 1))


def joined(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Return a line of texts, each cut to its column."""
    parts = (
        set_cell_size(cut_to(text, width), width)
        for text, width in zip(texts, widths, strict=False)
    )
    return (" " * GAP).join(parts)
