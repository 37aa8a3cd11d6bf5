"""Snapshots of every screen, in three sizes, over the pack `screens`.

After an intended change run `.venv/bin/pytest tests/app/test_snapshots.py --snapshot-update`, and
look at the pictures before you commit them. Only the screens in `WITH_FOOTER` show the footer, so a
changed key changes few pictures.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from tutor.engine.machine import Diagnostic
from tutor.manifest import Pack
from tutor.pack import load_pack
from tutor.report import (
    CheckResult,
    Contract,
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
from tutor.ui.actions import ACTIONS
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.screens.contract_screen import ContractScreen
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.first_run_screen import FirstRunScreen
from tutor.ui.screens.help_screen import HelpScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.map_screen import MapScreen
from tutor.ui.screens.preview_screen import preview
from tutor.ui.screens.solution_screen import SolutionScreen
from tutor.ui.widgets.editor import CodeEditor
from tutor.ui.widgets.results import ResultsPane

SIZES = [(80, 24), (120, 40), (200, 50)]
PACK = Path(__file__).parents[1] / "packs" / "screens" / "lessons"
LESSON = "rows"
Before = Callable[["Pilot[int]"], Awaitable[None]]

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


MACHINE = (
    Diagnostic("Python", True, "3.12.1"),
    Diagnostic("JAX", True, "0.10.2, with flax 0.12.8 and optax 0.2.8"),
    Diagnostic("PyTorch", True, "2.9.1"),
    Diagnostic("Your code", True, "~/jaxtutor/screens"),
    Diagnostic("Sandbox", True, "starts in 1.2 s"),
    Diagnostic("Isolation", True, "files, network and processes are covered"),
    Diagnostic("Devices", True, "simulated: 4 CPU devices"),
)
PIP = "run: python -m pip install"
POOR_MACHINE = (
    MACHINE[0],
    Diagnostic("JAX", False, "flax, optax not installed", f"{PIP} flax optax"),
    Diagnostic(
        "PyTorch",
        True,
        "not installed: lessons are checked against recorded answers",
        f"{PIP} torch",
        warning=True,
    ),
    MACHINE[3],
)
"""Of a machine with little installed, where the sandbox is still starting."""


@pytest.fixture
def app() -> TutorApp:
    return TutorApp(Desk(load_pack(PACK), warm=False))


async def opened(pilot: "Pilot[int]") -> LessonScreen:
    """Open the lesson, with some code in it."""
    app = pilot.app
    assert isinstance(app, TutorApp)
    app.open_lesson(LESSON)
    while not (isinstance(app.screen, LessonScreen) and app.screen.is_mounted):
        await pilot.pause(0.05)
    screen = app.screen
    editor = screen.query_one(CodeEditor)
    editor.cursor_blink = False
    editor.replace(CODE, editor.document.start, editor.document.end)
    editor.move_cursor((9, 4))
    await settled(pilot)
    return screen


async def settled(pilot: "Pilot[int]") -> None:
    """Wait until the screen no longer changes: Markdown and footers are built bit by bit."""
    last: list[Strip] = []
    same = 0
    while same < 4:
        await pilot.pause(0.05)
        now = pilot.app.screen._compositor.render_strips()
        same = same + 1 if now == last else 0
        last = now


async def course(pilot: "Pilot[int]") -> None:
    await pilot.press("down", "down", "down")


async def track(pilot: "Pilot[int]") -> None:
    await pilot.press("up")


async def going_on(pilot: "Pilot[int]") -> None:
    app = pilot.app
    assert isinstance(app, TutorApp) and isinstance(app.screen, CourseScreen)
    for lesson, report in (("pairs", PASSED), ("rows", FAILED)):
        app.desk.progress.opened("screens", lesson)
        app.desk.progress.record("screens", replace(report, lesson=lesson))
    app.screen.on_screen_resume()


async def found(pilot: "Pilot[int]") -> None:
    await going_on(pilot)
    app = pilot.app
    app.screen.query_one(Input).cursor_blink = False
    await pilot.press("slash", *"vmap")


async def not_found(pilot: "Pilot[int]") -> None:
    app = pilot.app
    app.screen.query_one(Input).cursor_blink = False
    await pilot.press("slash", *"Conv3d")


async def first_run(pilot: "Pilot[int]") -> None:
    await with_findings(pilot, MACHINE)


async def first_run_poor(pilot: "Pilot[int]") -> None:
    await with_findings(pilot, POOR_MACHINE)


async def with_findings(pilot: "Pilot[int]", found: Sequence[Diagnostic]) -> None:
    app = pilot.app
    assert isinstance(app, TutorApp)
    await settled(pilot)
    await app.push_screen(FirstRunScreen(app.desk, lambda *_: found))


async def track_map(pilot: "Pilot[int]") -> None:
    await with_map(pilot, entering=False)


async def entered(pilot: "Pilot[int]") -> None:
    await with_map(pilot, entering=True)


async def searched(pilot: "Pilot[int]") -> None:
    await with_map(pilot, entering=False)
    await pilot.press(*"key")


async def with_map(pilot: "Pilot[int]", entering: bool) -> None:
    app = pilot.app
    assert isinstance(app, TutorApp)
    await settled(pilot)
    await app.push_screen(MapScreen(app.desk, app.desk.pack.manifest.tracks[0], entering))
    app.screen.query_one(Input).cursor_blink = False


async def brief(pilot: "Pilot[int]") -> None:
    screen = await opened(pilot)
    screen.show_pane("brief")


async def code(pilot: "Pilot[int]") -> None:
    screen = await opened(pilot)
    screen.show_pane("code")


async def failed(pilot: "Pilot[int]") -> None:
    await _with_report(pilot, FAILED)


async def passed(pilot: "Pilot[int]") -> None:
    await _with_report(pilot, PASSED)


async def running(pilot: "Pilot[int]") -> None:
    screen = await opened(pilot)
    results = screen.query_one(ResultsPane)
    results.clock = lambda: 1.0  # no time passes in a picture
    results.begin()
    for result in RESULTS[:2]:
        results.add(result)
    results.show()
    screen.show_pane("results")


async def _with_report(pilot: "Pilot[int]", report: Report) -> None:
    screen = await opened(pilot)
    results = screen.query_one(ResultsPane)
    results.begin()
    for result in report.checks:
        results.add(result)
    results.end(report)
    screen.show_pane("results")


async def hint(pilot: "Pilot[int]") -> None:
    screen = await opened(pilot)
    screen.show_pane("code")
    screen._show_hints(3, 0)


async def failure_hint(pilot: "Pilot[int]") -> None:
    screen = await opened(pilot)
    screen.show_pane("code")
    screen._show_hints(2, 1, first=True)


async def keys(pilot: "Pilot[int]") -> None:
    await opened(pilot)
    await pilot.press(ACTIONS["help"].key)
    while not isinstance(pilot.app.screen, HelpScreen):
        await pilot.pause(0.05)


async def looked_up(pilot: "Pilot[int]") -> None:
    """With a contract of the test's own, so that no picture depends on the texts."""
    await opened(pilot)
    contract = Contract(
        "jax.lax.scan",
        "`scan(body, init, xs)` calls `body(carry, x)` and takes back the pair `(carry, y)`.",
        "import jax\n\nlast, ys = jax.lax.scan(lambda c, x: (c + x, c), 0, xs)",
        "control-flow-scan",
        "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
    )
    await pilot.app.push_screen(ContractScreen(contract))


async def question(pilot: "Pilot[int]") -> None:
    await opened(pilot)
    await pilot.press(ACTIONS["solution"].key)


async def previewed(pilot: "Pilot[int]") -> None:
    app = pilot.app
    assert isinstance(app, TutorApp)
    await app.push_screen(preview(app.desk, "double"))
    await settled(pilot)
    app.screen.query_one(CodeEditor).cursor_blink = False


async def solution(pilot: "Pilot[int]") -> None:
    screen = await opened(pilot)
    text = screen.pack.solution(LESSON) or ""
    await pilot.app.push_screen(SolutionScreen(screen.lesson, CODE, text))


SCREENS = [
    course,
    going_on,
    found,
    not_found,
    first_run,
    first_run_poor,
    track,
    track_map,
    entered,
    searched,
    brief,
    code,
    running,
    failed,
    passed,
    hint,
    failure_hint,
    keys,
    looked_up,
    question,
    solution,
]
WITH_FOOTER = {course, found, first_run, track_map, code, solution}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_screen(
    snap_compare,
    monkeypatch: pytest.MonkeyPatch,
    app: TutorApp,
    screen: Before,
    size: tuple[int, int],
):
    async def before(pilot: "Pilot[int]") -> None:
        await screen(pilot)
        await settled(pilot)

    if screen not in WITH_FOOTER:
        # From the start: a screen that is not on top is not laid out again.
        monkeypatch.setattr(TutorApp, "CSS", "Footer { display: none; }")
    assert snap_compare(app, run_before=before, terminal_size=size)


@pytest.mark.parametrize("screen", [failed, hint], ids=lambda one: one.__name__)
def test_at_the_breakpoint(snap_compare, app: TutorApp, screen: Before):
    """The narrowest terminal that has the PyTorch beside the code."""

    async def before(pilot: "Pilot[int]") -> None:
        await screen(pilot)
        await settled(pilot)

    assert snap_compare(app, run_before=before, terminal_size=(110, 35))


@pytest.mark.parametrize("screen", [going_on, failed, solution], ids=lambda one: one.__name__)
def test_without_colour(snap_compare, monkeypatch: pytest.MonkeyPatch, screen: Before):
    monkeypatch.setenv("NO_COLOR", "1")

    async def before(pilot: "Pilot[int]") -> None:
        await screen(pilot)
        await settled(pilot)

    app = TutorApp(Desk(load_pack(PACK), warm=False))
    assert snap_compare(app, run_before=before, terminal_size=(120, 40))


LIGHT = [going_on, found, first_run, failed]


@pytest.mark.parametrize("screen", LIGHT, ids=lambda one: one.__name__)
def test_light(snap_compare, app: TutorApp, screen: Before):
    async def before(pilot: "Pilot[int]") -> None:
        app.theme = "jaxtutor-light"
        await screen(pilot)
        await settled(pilot)

    assert snap_compare(app, run_before=before, terminal_size=(120, 40))


def test_preview(snap_compare, mini: Pack):
    app = TutorApp(Desk(mini, warm=False))
    assert snap_compare(app, run_before=previewed, terminal_size=(120, 40))
