"""The lessons of a course by track, with progress."""

import re
import time
from collections.abc import Sequence

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Label, Static
from textual.worker import get_current_worker

from tutor.learner.placement import HOW, WHY, listed_title, placed, reviews
from tutor.learner.progress import LessonStatus
from tutor.lesson import Lesson
from tutor.manifest import Track
from tutor.pack import BadPack
from tutor.ui.actions import ACTIONS as ACTIONS_BY_ID
from tutor.ui.actions import actions, bindings, key_of, letter_key
from tutor.ui.desk import Desk, OpenLesson, OpenMap
from tutor.ui.screens.problems_screen import broken
from tutor.ui.widgets.lesson_list import LessonList

_MARKS: dict[LessonStatus, str] = {
    "new": "  ",
    "started": "· ",
    "passed": "✓ ",
    "known": "~ ",
}

_BOLD = re.compile(r"(?<!\S)\*\*(?=\S)[^*]+\*\*")

REFRESH_EVERY = 0.1
"""Seconds between two updates of the list while titles are being read."""

PAUSE = 0.0005
"""Seconds after each title in which other threads can handle keys."""


class CourseScreen(Screen[None]):
    """All lessons, with a description of the one, or of the track, under the cursor.

    The list shows cached titles at once, or ids; a thread then reads the current titles.
    """

    ACTIONS = actions("open", "help", "quit")
    BINDINGS = [  # noqa: RUF012
        *bindings(ACTIONS),
        # Nothing is typed here, so letters need no menu.
        *(
            Binding(letter_key(one.letter), one.command, show=False)
            for one in (*ACTIONS, ACTIONS_BY_ID["palette"])
            if one.letter
        ),
    ]
    CSS_PATH = "course.tcss"

    class TitlesRead(Message):
        """The thread that reads titles has found new ones."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.pack = desk.pack
        self._statuses: dict[str, LessonStatus] = {}
        self._reviews = reviews(self.pack.manifest)
        self._shown: tuple[str, Track | None] = "", None

    def compose(self) -> ComposeResult:
        yield Label(self.pack.manifest.title, classes="title", id="course-title")
        with Container(id="course"):
            yield LessonList(self.pack.manifest.tracks, self._label, id="lessons")
            yield VerticalScroll(id="about", can_focus=False)
        yield Footer(show_command_palette=False)

    @property
    def _list(self) -> LessonList:
        return self.query_one("#lessons", LessonList)

    def on_screen_resume(self) -> None:
        """Refresh everything: progress and lessons may have changed."""
        manifest, progress = self.pack.manifest, self.desk.progress
        self._statuses = placed(manifest, progress.statuses(self.pack.id))
        found = [self._statuses.get(name) for name in self.pack.lessons]
        passed, known = found.count("passed"), found.count("known")
        title = f"{manifest.title}  ·  {passed} of {len(found)} passed"
        more = f", {known} known" if known else ""
        self.query_one("#course-title", Label).update(title + more)
        lessons = self._list
        if lessons.cursor is None:
            last = self.desk.progress.last_lesson(self.pack.id)
            with self.prevent(LessonList.Highlighted):
                exists = last in self.pack.lessons
                lessons.highlighted = last if exists else next(iter(self.pack.lessons))
        lessons.refresh()
        lessons.focus()
        self.desk.show_notices(self)
        # Through the app, which handles messages only once it has started: otherwise this would run
        # before the first frame.
        self.app.call_later(self.call_after_refresh, self._painted)

    def _label(self, lesson_id: str) -> str:
        title = listed_title(self.desk.title(lesson_id), lesson_id in self._reviews)
        return _MARKS[self._statuses.get(lesson_id, "new")] + title

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
        self._list.refresh()
        self._describe()

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
            return
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
        return f"{track.about.strip()} {hint}".strip()

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
        if name in self._reviews:
            facts.append(HOW)
        if self._statuses.get(name) == "known":
            facts.append(f"{WHY[0].upper()}{WHY[1:]}.")
        if attempts:
            facts.append(f"Checked {attempts} {'time' if attempts == 1 else 'times'} so far.")
        lines = [idea(lesson), " ".join(facts)]
        if lesson.sources:
            lines.append(f"Sources: {', '.join(lesson.sources)}.")
        return "\n\n".join(lines)

    # --- opening -------------------------------------------------------------------------------

    @on(LessonList.Chosen)
    def _chosen(self, message: LessonList.Chosen) -> None:
        self.post_message(OpenLesson(message.lesson))

    @on(LessonList.TrackChosen)
    def _track_chosen(self, message: LessonList.TrackChosen) -> None:
        self.post_message(OpenMap(message.track))

    def action_open(self) -> None:
        if self._list.highlighted_track is not None:
            self.post_message(OpenMap(self._list.highlighted_track))
        elif self._list.highlighted is not None:
            self.post_message(OpenLesson(self._list.highlighted))


def idea(lesson: Lesson) -> str:
    """Return the sentence of the brief that is set in bold, or else its first paragraph."""
    first = lesson.brief.strip().partition("\n\n")[0]
    bold = None if "**" in first else _BOLD.search(lesson.brief)
    return bold[0] if bold else first
