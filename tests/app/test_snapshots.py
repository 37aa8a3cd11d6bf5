"""Snapshots of the screens whose layout can break, in a small and a large terminal.

After an intended change run `JAXTUTOR_UPDATE_SNAPSHOTS=1 .venv/bin/pytest
tests/app/test_snapshots.py`, and read the difference before you commit it. Only the screens in
`WITH_FOOTER` show the footer, so a changed key changes few of them.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from textual.strip import Strip
from textual.widgets import Input

from tests.app.conftest import Driver
from tests.app.snapshot import FOLDER, compare
from tutor.engine.machine import Diagnostic
from tutor.pack import load_pack
from tutor.report import (
    CheckResult,
    Entry,
    ErrorMap,
    ErrorSlice,
    Fault,
    Frame,
    Mismatch,
    Race,
    Report,
    Side,
    Timing,
    Timings,
)
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.screens.confirm_screen import ConfirmScreen
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.first_run_screen import FirstRunScreen
from tutor.ui.screens.help_screen import HelpScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.map_screen import MapScreen
from tutor.ui.screens.solution_screen import SolutionScreen
from tutor.ui.themes import DEFAULT

SMALL, LARGE = (80, 24), (160, 45)
PACKS = Path(__file__).parents[1] / "packs"
LESSON = "rows"

CODE = """import jax
import jax.numpy as jnp


def predict(w, b, x):
    return jnp.tanh(x @ w + b)


def batched(w, b, xs):
    return jax.vmap(predict)(w, b, xs)
"""

RESULTS = (
    CheckResult("predict", "value", "pass", timing=Timing(0.12, 0.005, 0.0001)),
    CheckResult(
        "batched",
        "value",
        "fail",
        "largest difference 0.31 at [2, 0]: expected 1.284, got 0.974 (9 of 21 elements differ)",
        Mismatch(
            "value",
            "",
            Side("torch.Tensor", (7, 3), "float32"),
            Side("jax.Array", (7, 3), "float32"),
            0.31,
            1.28e-5,
            (2, 0),
            (0, 0),
            9,
            21,
            (
                Entry((0, 0), "-0.5123", "-0.5301", "0.0178"),
                Entry((2, 0), "1.284", "0.974", "0.31"),
            ),
            errors=ErrorMap(
                (1, 1),
                (ErrorSlice((), ("300", "030", "400", "003", "230", "003", "021")),),
            ),
        ),
        case="w float32[5, 3], bias float32[3], xs float32[7, 5]",
        timing=Timing(0.05, 0.002, 0.0001),
    ),
    CheckResult(
        "columns",
        "value",
        "error",
        "ValueError: vmap got inconsistent sizes for array axes to be mapped (line 10: "
        "`return jax.vmap(predict)(w, b, xs)`)",
        fault=Fault(
            "exception",
            "ValueError: vmap got inconsistent sizes for array axes to be mapped",
            frames=(Frame(10, "batched", "return jax.vmap(predict)(w, b, xs)"),),
            values=("w float32[5, 3]", "b float32[3]", "xs float32[7, 5]"),
        ),
        case="w float32[5, 3], bias float32[3], xs float32[7, 5]",
    ),
    CheckResult("distances", "value", "skipped", "needs 'columns' to pass first"),
)
FAILED = Report(
    LESSON, "error", RESULTS, stdout="w (5, 3)\n", timings=Timings(total=1.4), versions={}
)
PASSED = Report(
    LESSON,
    "pass",
    RESULTS[:1],
    timings=Timings(total=1.2, race=Race("distances(a, b)", 0.034, 1.2e-5, 3e-5)),
)

ANSWERS = "y_shape = (4, 3)\nlast_line = TypeError\n"
ANSWERED = Report(
    "shapes",
    "fail",
    (
        CheckResult(
            "y_shape",
            "predict",
            "fail",
            "you answered (4, 3); it is (3, 4)",
            afterword="Axes of length 1 are stretched, as in PyTorch.",
        ),
        CheckResult(
            "last_line",
            "predict",
            "pass",
            afterword="Arrays never change: write `x.at[0].set(1.0)`.",
        ),
    ),
)

PIP = "run: python -m pip install"
POOR_MACHINE = (
    Diagnostic("Python", True, "3.12.1"),
    Diagnostic("JAX", False, "flax, optax not installed", f"{PIP} flax optax"),
    Diagnostic(
        "PyTorch",
        True,
        "not installed: lessons are checked against recorded answers",
        f"{PIP} torch",
        warning=True,
    ),
    Diagnostic("Your code", True, "~/jaxtutor/screens"),
)
"""Of a machine with little installed, where the sandbox is still starting."""


async def home(driver: Driver) -> None:
    assert isinstance(driver.app.screen, CourseScreen)
    for lesson, report in (("pairs", PASSED), ("rows", FAILED)):
        driver.app.desk.progress.opened("screens", lesson)
        driver.app.desk.progress.record("screens", replace(report, lesson=lesson))
    driver.app.screen.on_screen_resume()


async def first_run(driver: Driver) -> None:
    await settled(driver)
    await driver.app.push_screen(FirstRunScreen(driver.app.desk, lambda *_: POOR_MACHINE))


async def track_map(driver: Driver) -> None:
    await settled(driver)
    desk = driver.app.desk
    await driver.app.push_screen(MapScreen(desk, desk.pack.manifest.tracks[0], entering=False))
    driver.app.screen.query_one(Input).cursor_blink = False


async def opened(driver: Driver, lesson: str = LESSON, text: str = CODE) -> LessonScreen:
    """Open a lesson, with some code in it."""
    await driver.open(lesson)
    driver.editor.cursor_blink = False
    await driver.write(text)
    driver.editor.move_cursor((9, 4))
    await settled(driver)
    return driver.lesson


async def brief(driver: Driver) -> None:
    (await opened(driver)).show_pane("brief")


async def code(driver: Driver) -> None:
    (await opened(driver)).show_pane("code")


async def failed(driver: Driver) -> None:
    await opened(driver)
    show(driver, FAILED)


async def passed(driver: Driver) -> None:
    await opened(driver)
    show(driver, PASSED)


async def predicted(driver: Driver) -> None:
    await opened(driver, "shapes", ANSWERS)
    show(driver, ANSWERED)


def show(driver: Driver, report: Report) -> None:
    driver.results.begin()
    for result in report.checks:
        driver.results.add(result)
    driver.results.end(report)
    driver.lesson.show_pane("results")


async def hint(driver: Driver) -> None:
    screen = await opened(driver)
    screen.show_pane("code")
    screen._show_hints(3, 0)


async def keys(driver: Driver) -> None:
    await opened(driver)
    await driver.press("help")
    await driver.on(HelpScreen)


async def question(driver: Driver) -> None:
    await opened(driver)
    await driver.press("solution")
    await driver.on(ConfirmScreen)


async def solution(driver: Driver) -> None:
    screen = await opened(driver)
    text = screen.pack.solution(LESSON) or ""
    await driver.app.push_screen(SolutionScreen(screen.lesson, CODE, text))


async def settled(driver: Driver) -> list[Strip]:
    """Wait until the screen no longer changes: Markdown and footers are built bit by bit."""
    last: list[Strip] = []
    same = 0
    while same < 4:
        await driver.pilot.pause(0.05)
        now = driver.app.screen._compositor.render_strips()
        same = same + 1 if now == last else 0
        last = now
    return last


class Snapshot(NamedTuple):
    screen: Callable[[Driver], Awaitable[None]]
    size: tuple[int, int]
    theme: str = DEFAULT
    colour: bool = True

    @property
    def name(self) -> str:
        width, height = self.size
        theme = "" if self.theme == DEFAULT else f"-{self.theme}"
        colour = "" if self.colour else "-no-colour"
        return f"{self.screen.__name__}{theme}{colour}-{width}x{height}"


SNAPSHOTS = [
    *(
        Snapshot(screen, size)
        for screen in (
            home, track_map, code, failed, passed, predicted, hint, solution, keys, question,
        )
        for size in (SMALL, LARGE)
    ),
    Snapshot(first_run, SMALL),
    Snapshot(brief, SMALL),
    Snapshot(failed, SMALL, theme="jaxtutor-light"),
    Snapshot(failed, LARGE, colour=False),
    Snapshot(solution, LARGE, colour=False),
]  # fmt: skip
WITH_FOOTER = {home, track_map, code, solution, first_run}


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda snapshot: snapshot.name)
async def test_screen(monkeypatch: pytest.MonkeyPatch, snapshot: Snapshot):
    if not snapshot.colour:
        monkeypatch.setenv("NO_COLOR", "1")
    if snapshot.screen not in WITH_FOOTER:
        # From the start: a screen that is not on top is not laid out again.
        monkeypatch.setattr(TutorApp, "CSS", "Footer { display: none; }")
    pack = load_pack(PACKS / ("forms" if snapshot.screen is predicted else "screens") / "lessons")
    with Desk(pack, warm=False) as desk:
        app = TutorApp(desk)
        app.theme = snapshot.theme
        async with app.run_test(size=snapshot.size) as pilot:
            driver = Driver(app, pilot)
            await snapshot.screen(driver)
            strips = await settled(driver)
    compare(snapshot.name, strips)


def test_no_snapshot_is_left_over():
    assert {file.stem for file in FOLDER.iterdir()} == {snapshot.name for snapshot in SNAPSHOTS}
