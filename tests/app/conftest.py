"""Drive the app with Textual's Pilot, over a small pack and with real sandboxes."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from tests.conftest import MINI
from tests.stopwatch import PATIENCE, Stopwatch
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.ui.actions import ACTIONS
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.widgets.editor import CodeEditor
from tutor.ui.widgets.lesson_list import LessonList
from tutor.ui.widgets.results import ResultsPane


class Driver:
    """An app under test: press keys, read the screen, wait for things."""

    def __init__(self, app: TutorApp, pilot: "Pilot[int]") -> None:
        self.app = app
        self.pilot = pilot
        self._notified: list[str] = []
        notify = app.notify

        def recorded(message: str, **options: Any) -> None:
            self._notified.append(message)
            notify(message, **options)

        app.notify = recorded

    async def press(self, *keys: str) -> None:
        """Press keys; an action is named by its id."""
        await self.pilot.press(*(ACTIONS[key].key if key in ACTIONS else key for key in keys))
        await self.pilot.pause()

    @property
    def lesson(self) -> LessonScreen:
        assert isinstance(self.app.screen, LessonScreen), self.app.screen
        return self.app.screen

    @property
    def editor(self) -> CodeEditor:
        return self.lesson.query_one(CodeEditor)

    @property
    def results(self) -> ResultsPane:
        return self.lesson.query_one(ResultsPane)

    @property
    def lessons(self) -> LessonList:
        return self.app.screen.query_one(LessonList)

    @property
    def text(self) -> str:
        """The text on the screen."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text for strip in strips)

    @property
    def notifications(self) -> str:
        """The notifications on the screen."""
        return "\n".join(note.message for note in self.app._notifications)

    async def on(self, kind: type[Screen[Any]]) -> None:
        """Wait for a screen and its widgets, which are mounted after it becomes current."""
        await self.until(
            lambda: isinstance(self.app.screen, kind) and self.app.screen.is_mounted, kind.__name__
        )

    async def open(self, lesson: str = "double") -> None:
        """Open a lesson."""
        self.app.open_lesson(lesson)
        await self.on_lesson(lesson)
        await self.pilot.pause()

    async def on_lesson(self, lesson: str) -> None:
        """Wait for the screen of a lesson."""
        await self.on(LessonScreen)
        await self.until(lambda: self.lesson.lesson.id == lesson and self.lesson.is_mounted, lesson)

    async def cursor_on(self, lesson: str) -> None:
        """Wait for the cursor to be on a lesson of the list."""
        await self.until(lambda: self.lessons.highlighted == lesson, f"the cursor on {lesson}")

    async def shows(self, words: str) -> None:
        """Wait for words on the screen, which is painted a moment after its state changes."""
        await self.until(lambda: words in self.text, f"on the screen: {words}")

    async def notifies(self, words: str) -> None:
        """Wait for a notification, whether or not it is still on the screen: on a busy machine it
        may have come and gone between two looks."""
        await self.until(
            lambda: any(words in text for text in [self.notifications, *self._notified]),
            f"a notification: {words}",
        )

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition, as long as a slow machine may need."""
        watch = Stopwatch()
        while not condition():
            assert watch.seconds < PATIENCE, f"never happened: {what}\n{self.text}"
            await self.pilot.pause(0.05)

    async def write(self, code: str) -> None:
        """Replace the code, as pasting does."""
        document = self.editor.document
        self.editor.replace(code, document.start, document.end)
        self.editor.move_cursor(self.editor.document.end)
        await self.pilot.pause()

    async def check(self) -> None:
        """Run, and wait for the report."""
        await self.press("run")
        await self.until(lambda: self.results.report is not None, "a report")


@pytest.fixture
def patient(tmp_path: Path) -> Pack:
    """Return the small pack with enough time for what is done during a run on a busy machine."""
    shutil.copytree(MINI.parent, tmp_path / "patient")
    lesson = tmp_path / "patient" / "lessons" / "basics" / "double.yaml"
    lesson.write_text(lesson.read_text().replace("seconds: 2,", "seconds: 600,"))
    pack = load_pack(tmp_path / "patient" / "lessons")
    assert pack.lesson("double").limits.seconds == 600
    return pack


Start = Callable[..., AbstractAsyncContextManager[Driver]]


@pytest.fixture
def start(mini: Pack, forked: None) -> Start:
    """Return a function that starts the app: `async with start() as driver`.

    Files and progress are in this test's home, so a second start finds those of the first. With
    `warm`, sandboxes are prepared in advance, as for learners."""

    @asynccontextmanager
    async def starter(
        size: tuple[int, int] = (80, 24), pack: Pack = mini, warm: bool = False
    ) -> AsyncIterator[Driver]:
        with Desk(pack, warm=warm) as desk:
            app = TutorApp(desk)
            async with app.run_test(size=size, notifications=True) as pilot:
                await pilot.pause()
                yield Driver(app, pilot)

    return starter
