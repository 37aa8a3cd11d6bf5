"""A list of lessons by track, of any length: only visible lines are rendered."""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tutor.manifest import Track

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

    **Arguments:** `label` returns the line of a lesson and is called on every rendering; call
    `refresh` when its result changes.
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
        "lesson-list--highlighted",
        "lesson-list--hover",
    }
    DEFAULT_CSS = """
    LessonList {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        & > .lesson-list--track { color: $text-disabled; }
        & > .lesson-list--highlighted {
            color: $foreground;
            background: $block-cursor-blurred-background;
        }
        & > .lesson-list--hover { background: $block-hover-background; }
        &:focus {
            background-tint: $foreground 5%;
            & > .lesson-list--highlighted {
                color: $block-cursor-foreground;
                background: $block-cursor-background;
                text-style: $block-cursor-text-style;
            }
        }
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
        tracks: Iterable[Track],
        label: Callable[[str], str],
        *,
        id: str,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(id=id)
        self._label = label
        self._rows: list[Row] = []
        for track in tracks:
            self._rows.append(Row(track))
            self._rows += [Row(track, lesson) for lesson in track.lessons]
        self._stops = [number for number, row in enumerate(self._rows) if row.can_be_chosen]
        self._row_of = {row.lesson: number for number, row in enumerate(self._rows) if row.lesson}

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
        self._go(((self._index or 0) + step) % len(self._stops))

    def action_page(self, step: int) -> None:
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
        self.cursor = self._stops[max(0, min(index, len(self._stops) - 1))]

    def _scroll_to_cursor(self) -> None:
        if self.cursor is None or not self.is_mounted:
            return
        row = self.cursor
        # Keep a track's title with its first lesson.
        first = self._rows[row].lesson is not None and self._rows[row - 1].lesson is None
        above = 1 if first else 0
        region = Region(0, row - above, self.scrollable_content_region.width, 1 + above)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    # --- rendering -----------------------------------------------------------------------

    def on_resize(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows))
        self._scroll_to_cursor()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        row = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if row >= len(self._rows):
            return Strip.blank(width, self.get_visual_style("lesson-list--lesson").rich_style)
        style = self.get_visual_style("lesson-list--lesson", *self._style_names(row)).rich_style
        text = " ".join(self._text(self._rows[row]).split("\n"))
        if cell_len(text) > width:
            text = set_cell_size(text, width - 1) + "…"
        line = Strip([Segment(text, style)]).extend_cell_length(width, style.background_style)
        return line.apply_meta({"row": row})

    def _text(self, row: Row) -> str:
        if row.lesson is not None:
            return self._label(row.lesson)
        return f"{row.track.title}{MAP if row.track.map else ''}"

    def _style_names(self, number: int) -> tuple[str, ...]:
        row = self._rows[number]
        if number == self.cursor:
            return ("lesson-list--highlighted",)
        names = ("lesson-list--track",) if row.lesson is None else ()
        if number == self._hover and row.can_be_chosen:
            return (*names, "lesson-list--hover")
        return names

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
