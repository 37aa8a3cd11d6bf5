"""The preview for authors: it shows what learners do not see, and reloads saved files."""

import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, Group

from tests.app.conftest import Driver
from tests.authoring.test_broken_packs import BROKEN
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.pack import open_pack
from tutor.ui.actions import key_of
from tutor.ui.desk import Desk
from tutor.ui.preview_app import PreviewApp
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.preview_screen import PreviewScreen, WaitingScreen, hidden, read
from tutor.ui.screens.solution_screen import SolutionScreen

Start = Callable[..., AbstractAsyncContextManager[Driver]]
SOLUTION = (BROKEN / "pack/solutions/vectors/norms.py").read_text()


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(BROKEN / "pack", Path("mine"))


@pytest.fixture
def start(pack: Path, tmp_path: Path) -> Start:
    @asynccontextmanager
    async def starter(
        size: tuple[int, int] = (120, 40), lesson: str = "norms"
    ) -> AsyncIterator[Driver]:
        opened = open_pack(pack)
        kept = tmp_path / "preview"
        with Desk(opened, Workspace(opened, kept), Progress(kept / "p.db"), warm=False) as desk:
            app = PreviewApp(desk, lesson)
            async with app.run_test(size=size, notifications=True) as pilot:
                yield Driver(app, pilot)

    return starter


def edit(pack: Path, old: str, new: str, file: str = "vectors/norms.yaml") -> None:
    text = (pack / file).read_text()
    assert text.count(old) == 1
    (pack / file).write_text(text.replace(old, new))


@asynccontextmanager
async def reloading(driver: Driver) -> AsyncIterator[None]:
    """Wait for the app to reload after a change made in here."""
    before = driver.app.screen
    yield
    await driver.until(
        lambda: driver.app.screen is not before and driver.app.screen.is_mounted,
        "the lesson as it was saved",
    )


async def opened(driver: Driver) -> None:
    await driver.on(PreviewScreen)


# --- the hidden pane ---------------------------------------------------------------------------


async def test_the_hidden_pane_is_shown_next_to_the_others(start: Start):
    async with start(size=(200, 100)) as driver:
        await driver.shows("Norms of rows")
        await driver.shows("raise NotImplementedError")
        await driver.shows("value: norm(m[0])")
        for words in ("expect: norms(m)", "m: normal(n, d)", "is forgotten", "jax.vmap(norm)(m)"):
            await driver.shows(words)


def test_all_fields_but_defaults_are_shown(pack: Path):
    edit(pack, "    args: [m]\n", "    args: [m]\n    tol: 0.5\n    out_axes: 0\n")
    hints = "failure_hints:\n  - {fails: one row, hint: Think of Pythagoras.}\n"
    edit(pack, "timed: every row", f"harness: |\n  more = 1\n{hints}timed: every row")
    version = read(pack, "norms")
    console = Console(width=100, file=StringIO())
    console.print(Group(*hidden(version.lesson, version.solution)))
    text = console.file.getvalue()
    for words in (
        "- name: one row", "value: norm(m[0])", "why: The square root of the sum of squares.",
        "after: one row", "expect: norms(m)", "tol: 0.5", "is: float32[n]", "m: normal(n, d)",
        "says: largest difference", "hint: Think of Pythagoras.", "more = 1",
        "return jax.vmap(norm)(m)",
    ):  # fmt: skip
        assert words in text, words
    for words in ("out_axes", "cases", "devices", "argnums"):
        assert words not in text


async def test_in_a_narrow_terminal_a_key_shows_the_hidden_pane(start: Start):
    async with start(size=(80, 24)) as driver:
        await driver.shows("value: norm(m[0])")
        await driver.press("brief")
        await driver.shows("Write it for one row")
        await driver.until(lambda: "value: norm(m[0])" not in driver.text, "that it is gone")
        await driver.press("hidden")
        await driver.shows("value: norm(m[0])")


async def test_checking_works_as_for_learners(start: Start, home: Path):
    async with start() as driver:
        await opened(driver)
        await driver.write(SOLUTION.replace("jnp.sqrt(v @ v)", "v @ v"))
        await driver.check()
        await driver.shows("The square root of the sum of squares.")
        await driver.write(SOLUTION)
        await driver.check()
        await driver.shows("5 of 5 checks pass")
    # The author's own files and progress are untouched.
    assert not (home / "workspace").exists()
    assert not (home / "data" / "progress.db").exists()


async def test_the_solution_is_shown_without_a_question(start: Start):
    async with start() as driver:
        await opened(driver)
        await driver.press("solution")
        await driver.on(SolutionScreen)


async def test_other_lessons_are_previewed_too(start: Start):
    async with start() as driver:
        await opened(driver)
        await driver.press("next")
        await driver.shows("Noise from a key")
        await driver.on(PreviewScreen)
        await driver.press("course")
        await driver.on(CourseScreen)


# --- reloading ---------------------------------------------------------------------------


async def test_a_saved_lesson_replaces_the_old_one(start: Start, pack: Path):
    async with start() as driver:
        await opened(driver)
        await driver.shows("The square root")
        edit(pack, "why: The square root of the sum of squares.", "why: Think of Pythagoras.")
        await driver.shows("Think of Pythagoras.")
        edit(pack, "title: Norms of rows", "title: Lengths of rows")
        await driver.shows("Lengths of rows")
        async with reloading(driver):
            edit(pack, "jnp.sqrt(v @ v)", "jnp.linalg.norm(v)", "solutions/vectors/norms.py")
        await driver.press("end")
        await driver.shows("jnp.linalg.norm(v)")


async def test_a_saved_text_of_several_lessons_replaces_the_old_one(start: Start, pack: Path):
    (pack / "texts").mkdir()
    (pack / "texts" / "rows.md").write_text("Rows are examples.\n")
    edit(pack, "  **Write it for one row", "  {{rows}}\n\n  **Write it for one row")
    async with start() as driver:
        await opened(driver)
        await driver.shows("Rows are examples.")
        (pack / "texts" / "rows.md").write_text("Columns are features.\n")
        await driver.shows("Columns are features.")
        (pack / "texts" / "rows.md").unlink()
        await driver.shows("write it to texts/rows.md")
        (pack / "texts" / "rows.md").write_text("Here they are again.\n")
        await driver.shows("Here they are again.")


async def test_a_new_starter_replaces_the_old_one_but_not_written_code(start: Start, pack: Path):
    async with start() as driver:
        await opened(driver)
        edit(pack, "  import jax.numpy as jnp\n", "  import jax.numpy as jnp  # one\n")
        await driver.shows("# one")
        await driver.until(lambda: "# one" in driver.editor.text, "the new starter in the editor")
        await driver.write("# mine\n" + SOLUTION)
        async with reloading(driver):
            edit(pack, "  import jax.numpy as jnp  # one\n", "  import jax.numpy as jnp  # two\n")
        assert "two" in driver.lesson.lesson.starter
        await driver.until(lambda: driver.editor.text == "# mine\n" + SOLUTION, "what was written")


async def test_problems_are_shown_until_they_are_fixed(start: Start, pack: Path):
    async with start() as driver:
        await opened(driver)
        await driver.press("code")
        edit(pack, "minutes: 5", "minutes: five")
        await driver.shows(f"✗ 1 problem in the saved files ({key_of('hidden')})")
        await driver.shows("norms.yaml:7:10: minutes: must be")
        await driver.shows("got 'five'")
        edit(pack, "id: broken", "id: [broken", "pack.yaml")
        await driver.shows("pack.yaml:2:5: not valid YAML")
        (pack / "vectors/norms.yaml").rename(pack / "away.yaml")
        edit(pack, "id: [broken", "id: broken", "pack.yaml")
        await driver.shows("does not exist")
        (pack / "away.yaml").rename(pack / "vectors/norms.yaml")
        await driver.shows("minutes: must be")
        edit(pack, "lessons: [norms, noise]", "lessons: [noise]", "pack.yaml")
        await driver.shows("the lesson 'norms' is no longer")
        edit(pack, "lessons: [noise]", "lessons: [norms, noise]", "pack.yaml")
        async with reloading(driver):
            edit(pack, "minutes: five", "minutes: 6")
        await driver.until(lambda: "in the saved files" not in driver.text, "no problem")
        # The last valid version stayed usable.
        assert driver.lesson.lesson.minutes == 6


async def test_a_solution_that_is_not_text_is_a_problem(start: Start, pack: Path):
    async with start() as driver:
        await opened(driver)
        (pack / "solutions/vectors/norms.py").write_bytes(b"\xff")
        await driver.shows("solutions/vectors/norms.py:1:1: the")
        async with reloading(driver):
            (pack / "solutions/vectors/norms.py").unlink()
        await driver.press("end")
        await driver.shows("There is no solution.")


async def test_a_broken_lesson_opens_when_it_is_fixed(start: Start, pack: Path):
    edit(pack, "minutes: 5", "minutes: five")
    async with start() as driver:
        await driver.on(WaitingScreen)
        await driver.shows("norms.yaml:7:10: minutes: must be an integer")
        edit(pack, "hints:", "hnits:")
        await driver.shows("unknown key 'hnits'")
        edit(pack, "hnits:", "hints:")
        edit(pack, "minutes: five", "minutes: 5")
        await opened(driver)
        await driver.shows("value: norm(m[0])")
