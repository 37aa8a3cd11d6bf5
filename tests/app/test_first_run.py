"""The very first start."""

import threading
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Driver
from tutor.engine.first_look import NAMES
from tutor.engine.machine import Diagnostic
from tutor.learner.settings import Settings
from tutor.manifest import Pack
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.first_run_screen import FirstRunScreen
from tutor.ui.screens.lesson_screen import LessonScreen

FOUND = [Diagnostic(name, True, f"the {name.lower()} of a test") for name in NAMES]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FirstRunScreen.__init__, "__defaults__", (lambda *arguments: FOUND,))


@asynccontextmanager
async def started(pack: Pack, **options: Any):
    with Desk(pack, warm=False) as desk:
        app = TutorApp(desk, **{"welcome": True, **options})
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await pilot.pause()
            yield Driver(app, pilot)


async def test_the_first_start_shows_the_machine_and_enter_begins(mini: Pack):
    async with started(mini) as driver:
        await driver.on(FirstRunScreen)
        for name in NAMES:
            await driver.shows(f"the {name.lower()} of a test")
        await driver.shows("check your code")
        await driver.shows("Enter  begin with Twice as much")
        await driver.press("begin")
        await driver.on_lesson("double")
        await driver.press("course")
        await driver.on(CourseScreen)


async def test_it_is_shown_once(mini: Pack):
    async with started(mini) as driver:
        await driver.on(FirstRunScreen)
        await driver.press("look_around")
        await driver.on(CourseScreen)
        await driver.shows("0 of 2 passed")
    async with started(mini) as driver:
        await driver.on(CourseScreen)
        await driver.shows("0 of 2 passed")


async def test_learners_with_progress_or_settings_do_not_see_it(mini: Pack):
    with Desk(mini, warm=False) as desk:
        desk.progress.opened("another", "lesson")
    async with started(mini) as driver:
        await driver.shows("0 of 2 passed")
        driver.app.desk.progress.close()
        driver.app.desk.progress.path.unlink()
    Settings().set("theme", "jaxtutor-light")
    async with started(mini) as driver:
        await driver.shows("0 of 2 passed")


@pytest.mark.parametrize("options", [{"first": "tall"}, {"welcome": False}])
async def test_a_start_with_a_lesson_does_not_show_it(mini: Pack, options: dict[str, Any]):
    async with started(mini, **options) as driver:
        await driver.on(LessonScreen if "first" in options else CourseScreen)
    assert Settings().empty


async def test_what_is_missing_is_shown_with_what_helps(
    mini: Pack, monkeypatch: pytest.MonkeyPatch
):
    torch = Diagnostic("PyTorch", True, "not installed", "run: pip install torch", warning=True)
    jax = Diagnostic("JAX", False, "jax not installed", "run: pip install jax")
    monkeypatch.setattr(FirstRunScreen.__init__, "__defaults__", (lambda *_: [jax, torch],))
    async with started(mini) as driver:
        await driver.shows("✗ JAX")
        await driver.shows("run: pip install jax")
        await driver.shows("! PyTorch")
        await driver.shows("run: pip install torch")
        await driver.shows("… Sandbox")
        assert not driver.notifications  # nothing twice


async def test_leaving_stops_the_sandbox_that_is_tried(mini: Pack, monkeypatch: pytest.MonkeyPatch):
    killed = threading.Event()

    class Slow:
        def kill(self) -> None:
            killed.set()

    def look(workspace: Path, on_start: Callable[[Any], None]) -> Iterator[Diagnostic]:
        yield FOUND[0]
        on_start(Slow())
        assert killed.wait(60)

    monkeypatch.setattr(FirstRunScreen.__init__, "__defaults__", (look,))
    async with started(mini) as driver:
        await driver.shows("… JAX")
        await driver.press("look_around")
        await driver.until(killed.is_set, "the sandbox was killed")
