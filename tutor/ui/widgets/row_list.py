"""A list of any length, with a cursor on some of its rows: only visible rows are rendered."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Generic, TypeVar

from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView

RowT = TypeVar("RowT")

MOVING = (
    Binding("up", "move(-1)", "Up", show=False),
    Binding("down", "move(1)", "Down", show=False),
    Binding("pageup", "page(-1)", "A page up", show=False),
    Binding("pagedown", "page(1)", "A page down", show=False),
)
"""Bindings of a screen whose `action_move` and `action_page` move the cursor of its list while
words are typed elsewhere."""


class RowList(ScrollView, Generic[RowT]):
    """One line for each row, below `HEADER_LINES` that stay. A title stays in view with the row
    below it. Subclasses render the lines, with their number as `row` in their meta data."""

    HEADER_LINES = 0
    COMPONENT_CLASSES = {  # noqa: RUF012
        "row-list--row",
        "row-list--title",
        "row-list--quiet",
        "row-list--highlighted",
        "row-list--hover",
    }
    DEFAULT_CSS = """
    RowList {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        & > .row-list--quiet { color: $text-muted; }
        & > .row-list--highlighted {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .row-list--hover { background: $block-hover-background; }
    }
    """

    cursor: reactive[int | None] = reactive(None)
    """The number of the row under the cursor."""

    _hover: reactive[int | None] = reactive(None)

    class Highlighted(Message):
        """The cursor has moved, or the rows are others."""

    class Chosen(Message):
        """The row under the cursor has been clicked."""

    def __init__(self, rows: Iterable[RowT] = (), *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._set_rows(rows)

    def can_be_chosen(self, row: RowT) -> bool:
        """Return whether the cursor can be on a row."""
        raise NotImplementedError

    def is_title(self, row: RowT) -> bool:
        raise NotImplementedError

    # --- the rows ----------------------------------------------------------------------------

    def _set_rows(self, rows: Iterable[RowT]) -> None:
        self._rows = list(rows)
        self._stops = [n for n, row in enumerate(self._rows) if self.can_be_chosen(row)]

    def _show_rows(self, rows: Iterable[RowT]) -> None:
        """Show other rows, without a cursor."""
        self._set_rows(rows)
        self._hover = None
        self._set_size()
        self.set_reactive(RowList.cursor, None)  # it was one of the other rows
        self.refresh()
        self.post_message(self.Highlighted())

    @property
    def highlighted_row(self) -> RowT | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if self.cursor is not None else None

    # --- the cursor --------------------------------------------------------------------------

    def watch_cursor(self, cursor: int | None) -> None:
        if cursor is not None:
            self._scroll_to_cursor()
        self.post_message(self.Highlighted())

    def action_move(self, step: int) -> None:
        """Move by one; from the last to the first."""
        if self._stops:
            index = self._index if self._index is not None else -1 if step > 0 else 0
            self._go((index + step) % len(self._stops))

    def action_page(self, step: int) -> None:
        if self._stops:
            page = self.scrollable_content_region.height - self.HEADER_LINES
            self._go(bisect_left(self._stops, self._stops[self._index or 0] + step * page))

    @property
    def _index(self) -> int | None:
        """The index of the cursor among the rows where it can be."""
        return bisect_left(self._stops, self.cursor) if self.cursor is not None else None

    def _go(self, index: int) -> None:
        if self._stops:
            self.cursor = self._stops[max(0, min(index, len(self._stops) - 1))]

    def _scroll_to_cursor(self) -> None:
        if self.cursor is None or not self.is_mounted:
            return
        row = self.cursor
        below_title = row > 0 and self.is_title(self._rows[row - 1])
        top = row - 1 if below_title and not self.is_title(self._rows[row]) else row
        height = row - top + 1 + self.HEADER_LINES
        region = Region(0, top, self.scrollable_content_region.width, height)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    # --- rendering ---------------------------------------------------------------------------

    def _set_size(self) -> None:
        width = self.scrollable_content_region.width
        self.virtual_size = Size(width, len(self._rows) + self.HEADER_LINES)

    def on_resize(self) -> None:
        self._set_size()
        self._scroll_to_cursor()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def _state(self, number: int) -> tuple[str, ...]:
        """Return the component classes of the state of a row."""
        if number == self.cursor:
            return ("row-list--highlighted",)
        hover = number == self._hover and self.can_be_chosen(self._rows[number])
        return ("row-list--hover",) if hover else ()

    # --- the mouse ---------------------------------------------------------------------------

    def _on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover = event.style.meta.get("row")

    def _on_leave(self, event: events.Leave) -> None:
        self._hover = None

    def on_click(self, event: events.Click) -> None:
        number = event.style.meta.get("row")
        if number is not None and self.can_be_chosen(self._rows[number]):
            self.cursor = number
            self.post_message(self.Chosen())
