"""Home: where to go on, and the lessons of a course by track, with progress and a search."""

import re
import threading
import time
from collections.abc import Iterable, Sequence

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Input, Label, Static
from textual.worker import get_current_worker

from tutor.learner.going_on import DONE, GoingOn, going_on, track_progress
from tutor.learner.placement import HOW, WHY, listed_title, placed, reviews
from tutor.learner.progress import LessonStatus
from tutor.lesson import Lesson
from tutor.manifest import Track
from tutor.pack import BadPack
from tutor.pack.lesson_search import LessonSearch
from tutor.ui.actions import ACTIONS as ACTIONS_BY_ID
from tutor.ui.actions import actions, bindings, key_of, letter_bindings
from tutor.ui.desk import Desk, OpenLesson, OpenMap
from tutor.ui.screens.problems_screen import broken
from tutor.ui.widgets.go_on_line import GoOnLine
from tutor.ui.widgets.lesson_list import LessonList, Row, rows_of, titled
from tutor.ui.widgets.list_lines import Line
from tutor.ui.widgets.row_list import MOVING

_MARKS: dict[LessonStatus, str] = {
    "new": "  ",
    "started": "· ",
    "passed": "✓ ",
    "known": "~ ",
}

_GO_ON = "▶ "
"""Marks the lesson where to go on."""

_BOLD = re.compile(r"(?<!\S)\*\*(?=\S)[^*]+\*\*")

SEARCHED = "titles, PyTorch and JAX: grad, cross_entropy, DataLoader"
"""Said of the search while nothing has been typed."""

REFRESH_EVERY = 0.1
"""Seconds between two updates of the list while titles are being read."""

PAUSE = 0.0005
"""Seconds after each title in which other threads can handle keys."""


class CourseScreen(Screen[None]):
    """All lessons, with a description of the one, or of the track, under the cursor.

    The list shows cached titles at once, or ids; a thread then reads the current titles.
    """

    ACTIONS = actions("open", "go_on", "search", "help", "quit")
    AUTO_FOCUS = "#lessons"
    BINDINGS = [  # noqa: RUF012
        *bindings((*ACTIONS, ACTIONS_BY_ID["close_search"])),
        *letter_bindings(ACTIONS),
        *MOVING,
    ]
    CSS_PATH = "course.tcss"

    class TitlesRead(Message):
        """The thread that reads titles has found new ones."""

    class Found(Message):
        """The thread that searches has found lessons."""

        def __init__(self, words: str, lessons: Sequence[str]) -> None:
            super().__init__()
            self.words = words
            self.lessons = lessons

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.pack = desk.pack
        self._statuses: dict[str, LessonStatus] = {}
        self._reviews = reviews(self.pack.manifest)
        self._shown: tuple[str, Track | None] = "", None
        self._going_on: GoingOn | None = None
        self._filtered = False  # whether the list shows what was found
        self._search = LessonSearch(self.pack, desk.title)
        self._one_search = threading.Lock()

    def compose(self) -> ComposeResult:
        yield Label(self.pack.manifest.title, classes="title", id="course-title")
        yield GoOnLine(id="go-on")
        with Horizontal(id="search-bar"):
            yield Label(f"{key_of('search')}  search", id="search-label")
            yield Input(placeholder=SEARCHED, id="search", compact=True)
        with Container(id="course"):
            with Vertical(id="found"):
                yield LessonList(rows_of(self.pack.manifest.tracks), self._line, id="lessons")
                yield Static(id="nothing-found")
            yield VerticalScroll(id="about", can_focus=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#nothing-found").display = False

    @property
    def _list(self) -> LessonList:
        return self.query_one("#lessons", LessonList)

    @property
    def _input(self) -> Input:
        return self.query_one("#search", Input)

    def on_screen_resume(self) -> None:
        """Refresh everything: progress and lessons may have changed."""
        manifest, progress = self.pack.manifest, self.desk.progress
        self._statuses = placed(manifest, progress.statuses(self.pack.id))
        found = [self._statuses.get(name) for name in self.pack.lessons]
        passed, known = found.count("passed"), found.count("known")
        title = f"{manifest.title}  ·  {passed} of {len(found)} passed"
        more = f", {known} known" if known else ""
        self.query_one("#course-title", Label).update(title + more)
        last = progress.last_lesson(self.pack.id)
        self._going_on = going_on(list(self.pack.lessons), self._statuses, last)
        self._show_going_on()
        lessons = self._list
        if lessons.cursor is None:
            with self.prevent(LessonList.Highlighted):
                exists = last in self.pack.lessons
                lessons.highlighted = last if exists else next(iter(self.pack.lessons))
        lessons.refresh()
        if not self._input.has_focus:
            lessons.focus()
        if self.is_current:
            self.desk.show_notices(self)
        # Through the app, which handles messages only once it has started: otherwise this would run
        # before the first frame.
        self.app.call_later(self.call_after_refresh, self._painted)

    # --- what the lines say --------------------------------------------------------------------

    def _show_going_on(self) -> None:
        line, there = self.query_one(GoOnLine), self._going_on
        if there is None:
            line.show("every lesson is done")
            return
        title = self.desk.title(there.lesson)
        if there.how == "begin":
            line.show(f"begin with {title}")
            return
        checks = self.desk.progress.last_attempt(self.pack.id, there.lesson)
        fact = f"{checks[0]} of {checks[1]} checks pass" if checks is not None else ""
        line.show(f"go on with {title}", fact)

    def _line(self, row: Row) -> Line:
        if row.lesson is None:
            return self._track_line(row.track)
        status = self._statuses.get(row.lesson, "new")
        there = self._going_on is not None and self._going_on.lesson == row.lesson
        minutes = self._minutes(row.lesson) if status not in DONE else None
        right = f"{minutes} min" if minutes is not None else ""
        return Line(
            listed_title(self.desk.title(row.lesson), row.lesson in self._reviews),
            mark=_GO_ON if there else _MARKS[status],
            right=row.track.title if self._filtered else right,
        )

    def _track_line(self, track: Track) -> Line:
        done, lessons, minutes = track_progress(track, self._statuses, self._minutes)
        dots = "●" * done + "○" * (lessons - done)
        left = f"{minutes} min left" if minutes is not None else ""
        return Line(
            titled(track),
            progress=(dots, f"{done} of {lessons}"),
            right="done" if done == lessons else left,
        )

    def _minutes(self, lesson_id: str) -> int | None:
        summary = self.desk.catalogue.cached(lesson_id)
        return summary.minutes if summary is not None else None

    def _painted(self) -> None:
        """Do what takes longer than painting the list and can follow it."""
        if self.is_current:
            self._describe()
            self._read_titles(
                list(dict.fromkeys([*self._list.visible_lessons, *self.pack.lessons]))
            )

    # --- titles ------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="titles", exit_on_error=False)
    def _read_titles(self, lessons: Sequence[str]) -> None:
        worker, catalogue = get_current_worker(), self.desk.catalogue
        changed, refreshed = False, time.monotonic()
        for lesson in lessons:
            if worker.is_cancelled:
                break
            before = catalogue.cached(lesson)
            catalogue.title(lesson)
            if catalogue.cached(lesson) != before:
                changed = True
                time.sleep(PAUSE)
            if changed and time.monotonic() - refreshed > REFRESH_EVERY:
                self.post_message(self.TitlesRead())
                changed, refreshed = False, time.monotonic()
        if changed:
            self.post_message(self.TitlesRead())
        catalogue.save()

    @on(TitlesRead)
    def _titles_read(self) -> None:
        self._show_going_on()
        self._list.refresh()
        self._describe()

    # --- searching -----------------------------------------------------------------------------

    def action_search(self) -> None:
        self._input.focus()

    def action_close_search(self) -> None:
        with self.prevent(Input.Changed):
            self._input.value = ""
        self._show_all()
        self._list.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "close_search":
            return self._input.has_focus or self._filtered
        if action == "search":
            return not self._input.has_focus  # else the key is typed
        return True

    @on(Input.Changed, "#search")
    def _words_changed(self, message: Input.Changed) -> None:
        if words := message.value.strip():
            self._find(words)
        else:
            self._show_all()

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def _find(self, words: str) -> None:
        with self._one_search:
            if not get_current_worker().is_cancelled:  # else more has been typed meanwhile
                found = [one.lesson for one in self._search.find(words)]
                self.post_message(self.Found(words, found))

    @on(Found)
    def _show_found(self, message: Found) -> None:
        if message.words == self._input.value.strip():
            self._filtered = True
            rows = [Row(self.pack.track_of(name), name) for name in message.lessons]
            self._show_rows(rows, None)
            nothing = f"No lesson says {message.words!r}. Type fewer letters or another name, "
            self.query_one("#nothing-found", Static).update(
                Text(f"{nothing}or press {key_of('close_search')} to see all lessons.")
            )

    def _show_all(self) -> None:
        if self._filtered:
            self._filtered = False
            self._show_rows(rows_of(self.pack.manifest.tracks), self._list.highlighted)

    def _show_rows(self, rows: Iterable[Row], cursor: str | None) -> None:
        lessons = self._list
        lessons.show(rows, cursor)
        lessons.display = lessons.cursor is not None
        self.query_one("#nothing-found").display = not lessons.display
        self.refresh_bindings()

    def action_move(self, step: int) -> None:
        self._list.action_move(step)

    def action_page(self, step: int) -> None:
        self._list.action_page(step)

    # --- the lesson or track under the cursor --------------------------------------------------

    @on(LessonList.Highlighted)
    def _highlighted(self) -> None:
        self.call_after_refresh(self._describe)

    def _describe(self) -> None:
        name, track = self._list.highlighted, self._list.highlighted_track
        if track is not None:
            about = self._about_track(track)
        elif name is not None:
            about = self._about(name)
        else:
            about = ""
        if (shown := (about, track)) != self._shown:
            self._shown = shown
            self._show(*shown)

    def _show(self, about: str, track: Track | None) -> None:
        from textual.widgets import Markdown  # a fifth of the import time

        panel = self.query_one("#about", VerticalScroll)
        if panel.children:
            panel.query_one(Markdown).update(about)
            panel.scroll_home(animate=False)
        else:
            panel.mount(Markdown(about), Static(id="about-map"))
        picture = panel.query_one("#about-map", Static)
        picture.display = track is not None
        if track is not None:
            from tutor.ui.widgets.map_table import MapPicture

            picture.update(MapPicture(track.map))

    def _about_track(self, track: Track) -> str:
        hint = f"{key_of('open')} opens this map, and searches those of all tracks."
        lines = [f"{track.about.strip()} {hint}".strip()]
        if track.review is not None and self._statuses.get(track.review) != "passed":
            title = self.desk.title(track.review)
            offer = f"Do you know this already? Pass the review, *{title}*,"
            lines.append(f"{offer} and the other lessons count as known.")
        return "\n\n".join(lines)

    def _about(self, name: str) -> str:
        try:
            lesson = self.pack.lesson(name)
        except BadPack as error:
            return f"{broken(error)} Press {key_of('open')} to see the details."
        attempts = self.desk.progress.attempts(self.pack.id, name)
        facts = [f"About {lesson.minutes} minutes."]
        if lesson.needs:
            titles = ", ".join(f"*{self.desk.title(need)}*" for need in lesson.needs)
            facts.append(f"Do {titles} first.")
        if self._statuses.get(name) == "known":
            facts.append(f"{WHY[0].upper()}{WHY[1:]}.")
        if attempts:
            facts.append(f"Checked {attempts} {'time' if attempts == 1 else 'times'} so far.")
        lines = [idea(lesson), *([HOW] if name in self._reviews else []), " ".join(facts)]
        if lesson.sources:
            lines.append(f"Sources: {', '.join(lesson.sources)}.")
        return "\n\n".join(lines)

    # --- opening -------------------------------------------------------------------------------

    def _open(self, lesson_id: str) -> None:
        if self._filtered:
            self.action_close_search()
        self.post_message(OpenLesson(lesson_id))

    @on(GoOnLine.Clicked)
    def action_go_on(self) -> None:
        there, last = self._going_on, self.desk.progress.last_lesson(self.pack.id)
        if there is None:
            self.notify("Every lesson is done. Open any of them again from the list.")
            return
        if there.how == "next" and last is not None:
            track = self.desk.map_between(self.pack.track_of(last).id, there.lesson)
            if track is not None:
                self.post_message(OpenMap(track, entering=True))
                return
        self._open(there.lesson)

    @on(LessonList.Chosen)
    def action_open(self) -> None:
        if self._list.highlighted_track is not None:
            self.post_message(OpenMap(self._list.highlighted_track))
        elif self._list.highlighted is not None:
            self._open(self._list.highlighted)


def idea(lesson: Lesson) -> str:
    """Return the sentence of the brief that is set in bold, or else its first paragraph."""
    first = lesson.brief.strip().partition("\n\n")[0]
    bold = None if "**" in first else _BOLD.search(lesson.brief)
    return bold[0] if bold else first
