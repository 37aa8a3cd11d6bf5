"""A list of lessons by track, of any length: only visible lines are rendered."""

from bisect import bisect_left
from collections.abc import Callable, Iterable

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


class LessonList(ScrollView, can_focus=True):
    """One line for each track and each lesson, with a cursor on a lesson.

    **Arguments:** `label` returns the line of a lesson and is called on every rendering; call
    `refresh` when its result changes.
    """

    BINDINGS = [  # noqa: RUF012
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "A page up", show=False),
        Binding("pagedown", "page(1)", "A page down", show=False),
        Binding("home", "first", "To the first", show=False),
        Binding("end", "last", "To the last", show=False),
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

    highlighted: reactive[str | None] = reactive(None)
    """The lesson under the cursor."""

    _hover: reactive[int | None] = reactive(None)

    class Highlighted(Message):
        """The cursor has moved to a lesson."""

        def __init__(self, lesson: str) -> None:
            super().__init__()
            self.lesson = lesson

    class Chosen(Message):
        """A lesson has been clicked."""

        def __init__(self, lesson: str) -> None:
            super().__init__()
            self.lesson = lesson

    def __init__(
        self,
        tracks: Iterable[Track],
        label: Callable[[str], str],
        *,
        id: str,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(id=id)
        self._label = label
        self._rows: list[tuple[str, bool]] = []
        """A track's title and False, or a lesson's id and True, for each line."""
        for track in tracks:
            self._rows.append((track.title, False))
            self._rows += [(lesson, True) for lesson in track.lessons]
        self._lessons = [row for row, (_, is_lesson) in enumerate(self._rows) if is_lesson]
        self._row_of = {self._rows[row][0]: row for row in self._lessons}

    @property
    def visible_lessons(self) -> list[str]:
        """The visible lessons."""
        top = self.scroll_offset.y
        rows = self._rows[top : top + self.scrollable_content_region.height]
        return [name for name, is_lesson in rows if is_lesson]

    # --- the cursor --------------------------------------------------------------------------

    def validate_highlighted(self, lesson: str | None) -> str | None:
        return lesson if lesson in self._row_of else None

    def watch_highlighted(self, lesson: str | None) -> None:
        if lesson is not None:
            self._scroll_to_cursor()
            self.post_message(self.Highlighted(lesson))

    def action_move(self, step: int) -> None:
        """Move by one lesson; from the last to the first."""
        self._go(((self._index or 0) + step) % len(self._lessons))

    def action_page(self, step: int) -> None:
        row = self._lessons[self._index or 0] + step * self.scrollable_content_region.height
        self._go(bisect_left(self._lessons, row))

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self._lessons) - 1)

    @property
    def _index(self) -> int | None:
        """The index of the lesson under the cursor."""
        if self.highlighted is None:
            return None
        return bisect_left(self._lessons, self._row_of[self.highlighted])

    def _go(self, index: int) -> None:
        index = max(0, min(index, len(self._lessons) - 1))
        self.highlighted = self._rows[self._lessons[index]][0]

    def _scroll_to_cursor(self) -> None:
        if self.highlighted is None or not self.is_mounted:
            return
        row = self._row_of[self.highlighted]
        above = 0 if self._rows[row - 1][1] else 1  # keep a track's title with its first lesson
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
        name, is_lesson = self._rows[row]
        style = self.get_visual_style("lesson-list--lesson", *self._style_names(row)).rich_style
        text = " ".join(self._label(name).split("\n")) if is_lesson else name
        if cell_len(text) > width:
            text = set_cell_size(text, width - 1) + "…"
        line = Strip([Segment(text, style)]).extend_cell_length(width, style.background_style)
        return line.apply_meta({"row": row})

    def _style_names(self, row: int) -> tuple[str, ...]:
        name, is_lesson = self._rows[row]
        if not is_lesson:
            return ("lesson-list--track",)
        if name == self.highlighted:
            return ("lesson-list--highlighted",)
        return ("lesson-list--hover",) if row == self._hover else ()

    # --- the mouse ---------------------------------------------------------------------------

    def _on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover = event.style.meta.get("row")

    def _on_leave(self, event: events.Leave) -> None:
        self._hover = None

    def on_click(self, event: events.Click) -> None:
        row = event.style.meta.get("row")
        if row is not None and self._rows[row][1]:
            self.highlighted = self._rows[row][0]
            self.post_message(self.Chosen(self._rows[row][0]))
