"""A list of lessons by track, of any length: only visible lines are rendered."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tutor.manifest import Track
from tutor.ui.widgets.list_lines import GAP, Line, fitted

MAP = "  · map"
"""Shown after the title of a track that has one."""


class Row(NamedTuple):
    """A lesson, or the title of a track."""

    track: Track
    lesson: str | None = None

    @property
    def can_be_chosen(self) -> bool:
        return self.lesson is not None or bool(self.track.map)


class LessonList(ScrollView, can_focus=True):
    """One line for each track and each lesson, with a cursor on a lesson or a track with a map.

    **Arguments:** `line` returns what to say of a lesson or a track. It is called on every
    rendering; call `refresh` when its result changes.
    """

    BINDINGS = [  # noqa: RUF012
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "A page up", show=False),
        Binding("pagedown", "page(1)", "A page down", show=False),
        Binding("home,g", "first", "To the first", show=False),
        Binding("end,G", "last", "To the last", show=False),
    ]
    COMPONENT_CLASSES = {  # noqa: RUF012
        "lesson-list--lesson",
        "lesson-list--track",
        "lesson-list--quiet",
        "lesson-list--highlighted",
        "lesson-list--hover",
    }
    DEFAULT_CSS = """
    LessonList {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        & > .lesson-list--track { color: $foreground; text-style: bold; }
        & > .lesson-list--quiet { color: $text-muted; }
        & > .lesson-list--highlighted {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .lesson-list--hover { background: $block-hover-background; }
    }
    """

    cursor: reactive[int | None] = reactive(None)
    """The line under the cursor."""

    _hover: reactive[int | None] = reactive(None)

    class Highlighted(Message):
        """The cursor has moved."""

    class Chosen(Message):
        """A lesson has been clicked."""

        def __init__(self, lesson: str) -> None:
            super().__init__()
            self.lesson = lesson

    class TrackChosen(Message):
        """A track with a map has been clicked."""

        def __init__(self, track: Track) -> None:
            super().__init__()
            self.track = track

    def __init__(
        self,
        rows: Iterable[Row],
        line: Callable[[Row], Line],
        *,
        id: str,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(id=id)
        self._line = line
        self._set_rows(rows)

    # --- the rows ----------------------------------------------------------------------------

    def show(self, rows: Iterable[Row], cursor: str | None) -> None:
        """Show other rows.

        **Arguments:** `cursor`: the lesson under the cursor; by default the first one.
        """
        self._set_rows(rows)
        self._hover = None
        self._set_size()
        self.set_reactive(LessonList.cursor, None)  # it was one of the other rows
        self.highlighted = cursor
        if self.cursor is None and self._stops:
            self.cursor = self._stops[0]
        self.refresh()
        self.post_message(self.Highlighted())

    def _set_rows(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)
        self._stops = [number for number, row in enumerate(self._rows) if row.can_be_chosen]
        self._row_of = {row.lesson: number for number, row in enumerate(self._rows) if row.lesson}
        titles = [cell_len(titled(row.track)) for row in self._rows if row.lesson is None]
        self._column = max(titles, default=0) + GAP

    @property
    def visible_lessons(self) -> list[str]:
        """The visible lessons."""
        top = self.scroll_offset.y
        rows = self._rows[top : top + self.scrollable_content_region.height]
        return [row.lesson for row in rows if row.lesson is not None]

    # --- the cursor --------------------------------------------------------------------------

    @property
    def highlighted(self) -> str | None:
        """The lesson under the cursor; None if there is a track, or no cursor."""
        return self._rows[self.cursor].lesson if self.cursor is not None else None

    @highlighted.setter
    def highlighted(self, lesson: str | None) -> None:
        self.cursor = self._row_of.get(lesson) if lesson is not None else None

    @property
    def highlighted_track(self) -> Track | None:
        """The track under the cursor; None if there is a lesson, or no cursor."""
        row = self._rows[self.cursor] if self.cursor is not None else None
        return row.track if row is not None and row.lesson is None else None

    def watch_cursor(self, cursor: int | None) -> None:
        if cursor is not None:
            self._scroll_to_cursor()
            self.post_message(self.Highlighted())

    def action_move(self, step: int) -> None:
        """Move by one; from the last to the first."""
        if self._stops:
            self._go(((self._index or 0) + step) % len(self._stops))

    def action_page(self, step: int) -> None:
        if self._stops:
            row = self._stops[self._index or 0] + step * self.scrollable_content_region.height
            self._go(bisect_left(self._stops, row))

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self._stops) - 1)

    @property
    def _index(self) -> int | None:
        """The index of the cursor among the lines where it can be."""
        return bisect_left(self._stops, self.cursor) if self.cursor is not None else None

    def _go(self, index: int) -> None:
        if self._stops:
            self.cursor = self._stops[max(0, min(index, len(self._stops) - 1))]

    def _scroll_to_cursor(self) -> None:
        if self.cursor is None or not self.is_mounted:
            return
        row = self.cursor
        # Keep a track's title with its first lesson.
        first = row > 0 and self._rows[row].lesson is not None and not self._rows[row - 1].lesson
        above = 1 if first else 0
        region = Region(0, row - above, self.scrollable_content_region.width, 1 + above)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    # --- rendering -----------------------------------------------------------------------

    def _set_size(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows))

    def on_resize(self) -> None:
        self._set_size()
        self._scroll_to_cursor()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        row = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if row >= len(self._rows):
            return Strip.blank(width, self.get_visual_style("lesson-list--lesson").rich_style)
        kind = "lesson-list--track" if self._rows[row].lesson is None else "lesson-list--lesson"
        state = self._state(row)
        named = self.get_visual_style(kind, *state).rich_style
        plain = self.get_visual_style("lesson-list--lesson", *state).rich_style
        quiet = self.get_visual_style("lesson-list--quiet", *state).rich_style
        styles = (named, named, plain, plain, quiet)
        parts = fitted(self._line(self._rows[row]), width, self._column)
        segments = [Segment(text, style) for text, style in zip(parts, styles, strict=True) if text]
        return Strip(segments, width).apply_meta({"row": row})

    def _state(self, number: int) -> tuple[str, ...]:
        if number == self.cursor:
            return ("lesson-list--highlighted",)
        hover = number == self._hover and self._rows[number].can_be_chosen
        return ("lesson-list--hover",) if hover else ()

    # --- the mouse ---------------------------------------------------------------------------

    def _on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover = event.style.meta.get("row")

    def _on_leave(self, event: events.Leave) -> None:
        self._hover = None

    def on_click(self, event: events.Click) -> None:
        number = event.style.meta.get("row")
        if number is None or not self._rows[number].can_be_chosen:
            return
        self.cursor = number
        row = self._rows[number]
        if row.lesson is None:
            self.post_message(self.TrackChosen(row.track))
        else:
            self.post_message(self.Chosen(row.lesson))


def rows_of(tracks: Iterable[Track]) -> Iterator[Row]:
    """Yield a row for each track, followed by those of its lessons."""
    for track in tracks:
        yield Row(track)
        yield from (Row(track, lesson) for lesson in track.lessons)


def titled(track: Track) -> str:
    """Return the title of a track in the list, which says whether it has a map."""
    return f"{track.title}{MAP if track.map else ''}"
