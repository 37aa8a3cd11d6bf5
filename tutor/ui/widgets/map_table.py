"""A table of what PyTorch code becomes in JAX: to choose from, or only to look at."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tutor.manifest import MapEntry
from tutor.pack.maps import HEADER, TrackMap, fitted
from tutor.ui.widgets.list_lines import cut_to

GAP = 2
"""Columns between two texts."""

LESSONS_FROM = 100
"""Width from which the lessons are shown, too."""


class Line(NamedTuple):
    """A row of a map, or the title of its track."""

    title: str = ""
    row: MapEntry | None = None


class MapTable(ScrollView, can_focus=False):
    """One line for each row, below a header that stays, with a cursor on a row."""

    COMPONENT_CLASSES = {  # noqa: RUF012
        "map-table--row",
        "map-table--header",
        "map-table--track",
        "map-table--highlighted",
        "map-table--hover",
    }
    DEFAULT_CSS = """
    MapTable {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        & > .map-table--header { text-style: bold; color: $text-muted; }
        & > .map-table--track { color: $text-disabled; }
        & > .map-table--highlighted {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .map-table--hover { background: $block-hover-background; }
    }
    """

    cursor: reactive[int | None] = reactive(None)
    """The index of the row under the cursor, counted without titles."""

    _hover: reactive[int | None] = reactive(None)

    class Highlighted(Message):
        """The cursor has moved, or the rows are others."""

    class Chosen(Message):
        """A row has been clicked."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._lines: list[Line] = []
        self._stops: list[int] = []
        self._needs = (0, 0, 0)

    # --- the rows ----------------------------------------------------------------------------

    def show(self, maps: Sequence[TrackMap], titles: bool, cursor: int | None) -> None:
        """Show other rows.

        **Arguments:** `titles`: whether each track's title stands above its rows.
        """
        self._lines = []
        for one in maps:
            self._lines += [Line(title=one.track.title)] if titles else []
            self._lines += [Line(row=row) for row in one.rows]
        self._stops = [number for number, line in enumerate(self._lines) if line.row is not None]
        rows = [row for one in maps for row in one.rows]
        self._needs = needs(rows)
        self.cursor = cursor if rows else None
        self._hover = None
        self._set_size()
        self.refresh()
        self.post_message(self.Highlighted())

    @property
    def highlighted(self) -> MapEntry | None:
        """The row under the cursor."""
        return self._lines[self._stops[self.cursor]].row if self.cursor is not None else None

    @property
    def cut(self) -> bool:
        """Whether the row under the cursor is longer than its line."""
        row = self.highlighted
        if row is None:
            return False
        texts = (row.torch, row.jax)
        return any(cell_len(text) > width for text, width in zip(texts, self._widths, strict=False))

    def move(self, step: int) -> None:
        """Move the cursor; from the last row to the first."""
        if self._stops:
            start = -1 if step > 0 else 0
            self.cursor = ((start if self.cursor is None else self.cursor) + step) % len(
                self._stops
            )

    def page(self, step: int) -> None:
        """Move the cursor by a page."""
        if self._stops:
            index = (self.cursor or 0) + step * max(1, self.scrollable_content_region.height - 1)
            self.cursor = max(0, min(index, len(self._stops) - 1))

    def watch_cursor(self, cursor: int | None) -> None:
        if cursor is not None:
            self._scroll_to_cursor()
        self.post_message(self.Highlighted())

    def _scroll_to_cursor(self) -> None:
        if self.cursor is None or not self.is_mounted:
            return
        line = self._stops[self.cursor]
        # With the line above it, which may be a title; the header covers one more.
        top = line - 1 if line and self._lines[line - 1].row is None else line
        region = Region(0, top, self.scrollable_content_region.width, line - top + 2)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    # --- rendering -----------------------------------------------------------------------------

    @property
    def _widths(self) -> list[int]:
        return column_widths(self._needs, self.scrollable_content_region.width)

    def _set_size(self) -> None:
        width = self.scrollable_content_region.width
        self.virtual_size = Size(width, len(self._lines) + 1)

    def on_resize(self) -> None:
        self._set_size()
        self._scroll_to_cursor()
        self.post_message(self.Highlighted())  # more or less of its row may be cut

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y - 1
        if y == 0:
            return self._strip(self._joined(HEADER), "map-table--header")
        if number >= len(self._lines):
            return self._strip("")
        line = self._lines[number]
        if line.row is None:
            return self._strip(" ".join(line.title.split("\n")), "map-table--track")
        style: tuple[str, ...] = ()
        if self.cursor is not None and number == self._stops[self.cursor]:
            style = ("map-table--highlighted",)
        elif number == self._hover:
            style = ("map-table--hover",)
        return self._strip(self._joined(cells(line.row)), *style).apply_meta({"line": number})

    def _joined(self, texts: Sequence[str]) -> str:
        return joined(texts, self._widths)

    def _strip(self, text: str, *styles: str) -> Strip:
        width = self.scrollable_content_region.width
        style = self.get_visual_style("map-table--row", *styles).rich_style
        line = Strip([Segment(cut_to(text, width), style)])
        return line.extend_cell_length(width, style.background_style)

    # --- the mouse -----------------------------------------------------------------------------

    def _on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover = event.style.meta.get("line")

    def _on_leave(self, event: events.Leave) -> None:
        self._hover = None

    def on_click(self, event: events.Click) -> None:
        line = event.style.meta.get("line")
        if line is not None:
            self.cursor = self._stops.index(line)
            self.post_message(self.Chosen())


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
