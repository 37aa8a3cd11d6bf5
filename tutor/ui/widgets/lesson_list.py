"""A list of lessons by track."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding
from textual.strip import Strip

from tutor.manifest import Track
from tutor.ui.widgets.list_lines import GAP, Line, fitted
from tutor.ui.widgets.row_list import RowList

MAP = "  · map"
"""Shown after the title of a track that has one."""


class Row(NamedTuple):
    """A lesson, or the title of a track."""

    track: Track
    lesson: str | None = None


class LessonList(RowList[Row], can_focus=True):
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
    DEFAULT_CSS = """
    LessonList > .row-list--title { color: $foreground; text-style: bold; }
    """

    def __init__(
        self,
        rows: Iterable[Row],
        line: Callable[[Row], Line],
        *,
        id: str,  # noqa: A002 - Textual's own name
    ) -> None:
        self._line = line
        super().__init__(rows, id=id)

    def can_be_chosen(self, row: Row) -> bool:
        return row.lesson is not None or bool(row.track.map)

    def is_title(self, row: Row) -> bool:
        return row.lesson is None

    def show(self, rows: Iterable[Row], cursor: str | None) -> None:
        """Show other rows.

        **Arguments:** `cursor`: the lesson under the cursor; by default the first one.
        """
        self._show_rows(rows)
        self.highlighted = cursor
        if self.cursor is None:
            self.action_first()

    def _set_rows(self, rows: Iterable[Row]) -> None:
        super()._set_rows(rows)
        self._row_of = {row.lesson: number for number, row in enumerate(self._rows) if row.lesson}
        titles = [cell_len(titled(row.track)) for row in self._rows if row.lesson is None]
        self._column = max(titles, default=0) + GAP

    @property
    def visible_lessons(self) -> list[str]:
        """The visible lessons."""
        top = self.scroll_offset.y
        rows = self._rows[top : top + self.scrollable_content_region.height]
        return [row.lesson for row in rows if row.lesson is not None]

    @property
    def highlighted(self) -> str | None:
        """The lesson under the cursor; None if there is a track, or no cursor."""
        row = self.highlighted_row
        return row.lesson if row is not None else None

    @highlighted.setter
    def highlighted(self, lesson: str | None) -> None:
        self.cursor = self._row_of.get(lesson) if lesson is not None else None

    @property
    def highlighted_track(self) -> Track | None:
        """The track under the cursor; None if there is a lesson, or no cursor."""
        row = self.highlighted_row
        return row.track if row is not None and row.lesson is None else None

    def action_first(self) -> None:
        self._go(0)

    def action_last(self) -> None:
        self._go(len(self._stops) - 1)

    def render_line(self, y: int) -> Strip:
        number = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        if number >= len(self._rows):
            return Strip.blank(width, self.get_visual_style("row-list--row").rich_style)
        row, state = self._rows[number], self._state(number)
        kind = "row-list--title" if row.lesson is None else "row-list--row"
        named = self.get_visual_style(kind, *state).rich_style
        plain = self.get_visual_style("row-list--row", *state).rich_style
        quiet = self.get_visual_style("row-list--quiet", *state).rich_style
        styles = (named, named, plain, plain, quiet)
        parts = fitted(self._line(row), width, self._column)
        segments = [Segment(text, style) for text, style in zip(parts, styles, strict=True) if text]
        return Strip(segments, width).apply_meta({"row": number})


def rows_of(tracks: Iterable[Track]) -> Iterator[Row]:
    """Yield a row for each track, followed by those of its lessons."""
    for track in tracks:
        yield Row(track)
        yield from (Row(track, lesson) for lesson in track.lessons)


def titled(track: Track) -> str:
    """Return the title of a track in the list, which says whether it has a map."""
    return f"{track.title}{MAP if track.map else ''}"
