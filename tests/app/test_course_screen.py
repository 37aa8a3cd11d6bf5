"""The list of lessons, with many of them and with broken ones."""

import shutil
from pathlib import Path

import msgspec
import pytest

from benchmarks.packs import make_pack
from tests.app.conftest import Start
from tests.conftest import MINI
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.pack.catalogue import Catalogue
from tutor.ui.screens.course_screen import CourseScreen, idea
from tutor.ui.screens.help_screen import HelpScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.problems_screen import ProblemsScreen

MANY = 300


@pytest.fixture(autouse=True)
def empty_cache(home: Path) -> None:
    (home / "cache").unlink()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pack(tmp_path_factory.mktemp("many") / "pack", MANY)


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # so that a problem fits on one line
    return Path(shutil.copytree(MINI.parent, tmp_path / "pack") / "lessons")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


# --- many lessons ----------------------------------------------------------------------------


async def test_the_keys_of_the_list(start: Start, many: Path):
    async with start(size=(120, 40), pack=open_pack(many)) as driver:
        cursor = driver.lessons
        await driver.cursor_on("lesson-00000")
        await driver.press("down", "down", "up")
        await driver.cursor_on("lesson-00001")
        await driver.press("pagedown")
        await driver.press("pagedown")
        await driver.until(lambda: 60 < int(str(cursor.highlighted)[-5:]) < 90, "two pages down")
        page = int(str(cursor.highlighted)[-5:])
        await driver.shows(f"lesson {page:05}")
        await driver.press("pageup")
        await driver.until(lambda: 25 < int(str(cursor.highlighted)[-5:]) < 50, "a page up")
        await driver.press("end")
        await driver.cursor_on(f"lesson-{MANY - 1:05}")
        await driver.shows(f"Batches, lesson {MANY - 1:05}")
        await driver.press("down")
        await driver.cursor_on("lesson-00000")
        await driver.shows("Track 0")
        await driver.press("up")
        await driver.cursor_on(f"lesson-{MANY - 1:05}")
        await driver.press("home", "pageup")
        await driver.cursor_on("lesson-00000")


async def test_titles_are_read_in_the_background_and_cached(start: Start, many: Path):
    pack = open_pack(many)
    async with start(size=(120, 40), pack=pack) as driver:
        await driver.shows("Batches, lesson 00003")
        known = driver.app.desk.catalogue.cached
        await driver.until(lambda: all(map(known, pack.lessons)), "all titles")
        await driver.app.workers.wait_for_complete()
    catalogue = Catalogue(open_pack(many))
    assert all(map(catalogue.cached, pack.lessons))


async def test_the_lesson_under_the_cursor_is_described(start: Start, many: Path):
    async with start(size=(120, 40), pack=open_pack(many)) as driver:
        await driver.shows("About 12 minutes.")
        await driver.press("down")
        await driver.shows("Do Batches, lesson 00000 first.")
        await driver.press("enter")
        await driver.on(LessonScreen)
        await driver.shows(f"Batches, lesson 00001  ·  2/{MANY}")
        await driver.press("course")
        await driver.cursor_on("lesson-00001")


async def test_a_click_on_a_lesson_opens_it_and_on_a_track_does_nothing(start: Start, many: Path):
    async with start(size=(120, 40), pack=open_pack(many)) as driver:
        await driver.shows("Batches, lesson 00003")
        await driver.pilot.click("#lessons", offset=(3, 0))
        assert isinstance(driver.app.screen, CourseScreen)
        await driver.pilot.hover("#lessons", offset=(3, 4))
        await driver.pilot.click("#lessons", offset=(3, 4))
        await driver.on_lesson("lesson-00003")


async def test_a_title_too_long_for_its_line_is_truncated(start: Start, pack: Path):
    edit(pack / "basics" / "tall.yaml", "title: Upright", f"title: {'long ' * 50}end")
    async with start(pack=open_pack(pack)) as driver:
        await driver.shows("long long")
        await driver.shows("…")
        assert "end" not in driver.text


async def test_an_edited_title_is_shown_on_return(start: Start, pack: Path):
    async with start(pack=open_pack(pack)) as driver:
        await driver.shows("Upright")
        await driver.press("enter")
        await driver.on(LessonScreen)
        edit(pack / "basics" / "tall.yaml", "title: Upright", "title: Standing")
        await driver.press("course")
        await driver.shows("Standing")


# --- broken lessons --------------------------------------------------------------------------


async def test_opening_a_broken_lesson_shows_its_problems(start: Start, pack: Path):
    edit(pack / "basics" / "double.yaml", "hints:", "hnits:")
    async with start(size=(120, 40), pack=open_pack(pack)) as driver:
        await driver.shows("This lesson cannot be opened")
        await driver.press("enter")
        await driver.on(ProblemsScreen)
        await driver.shows("double.yaml:16:1: unknown key 'hnits'; did you mean 'hints'?")
        await driver.shows("double.yaml:1:1: 'hints' is missing")
        await driver.shows("open it again")
        await driver.press("escape")
        await driver.on(CourseScreen)
        await driver.press("down", "enter")
        await driver.shows("Upright  ·  2/2")
        await driver.press("course")

        edit(pack / "basics" / "double.yaml", "hnits:", "hints:")
        await driver.press("up", "enter")
        await driver.shows("Twice as much  ·  1/2")


async def test_a_broken_lesson_is_listed_by_its_id_and_keeps_the_current_one(
    start: Start, pack: Path
):
    (pack / "basics" / "tall.yaml").write_text("title: [")
    async with start(size=(120, 40), pack=open_pack(pack)) as driver:
        await driver.shows("Twice as much")
        await driver.app.workers.wait_for_complete()
        assert "  tall" in driver.text
        await driver.press("enter")
        await driver.on(LessonScreen)
        await driver.press("next")
        await driver.shows("tall.yaml:2:1: not valid YAML")
        await driver.press("escape")
        await driver.on_lesson("double")


async def test_a_last_lesson_that_broke_is_reported_at_the_start(start: Start, pack: Path):
    async with start(size=(120, 40), pack=open_pack(pack)) as driver:
        await driver.press("enter")
        await driver.on(LessonScreen)
    (pack / "basics" / "double.yaml").unlink()
    async with start(size=(120, 40), pack=open_pack(pack)) as driver:
        await driver.on(ProblemsScreen)
        await driver.shows("lesson 'double': the file basics/double.yaml does not exist")
        await driver.press("escape")
        await driver.shows("0 of 2 passed")


@pytest.mark.parametrize(
    ("brief", "shown"),
    [
        ("**One idea.** And more.\n\nMore.", "**One idea.** And more."),
        (
            "It prints once:\n\n    x ** 2\n\nSo **Python runs\nonce.** More.",
            "**Python runs\nonce.**",
        ),
        ("No idea in `a**b**c`.\n\nMore.", "No idea in `a**b**c`."),
        ("Plain.\n\nMore, `x**2 + y**2`.", "Plain."),
    ],
)
def test_the_idea_of_a_lesson_is_shown(mini: Pack, brief: str, shown: str):
    lesson = next(iter(mini.lessons.values()))
    assert idea(msgspec.structs.replace(lesson, brief=brief)) == shown


async def test_the_palette_finds_lessons_by_what_they_say(start: Start, mini: Pack):
    async with start(size=(100, 30), pack=mini) as driver:
        await driver.on(CourseScreen)
        await driver.press("palette", *"upright")
        await driver.shows("Lesson: Upright")
        await driver.press("down", "enter")
        await driver.on(LessonScreen)


async def test_letters_are_keys_where_nothing_is_typed(start: Start):
    async with start() as driver:
        await driver.on(CourseScreen)
        before = driver.lessons.cursor
        await driver.press("j")
        await driver.until(lambda: driver.lessons.cursor != before, "the cursor moved")
        await driver.press("k")
        await driver.until(lambda: driver.lessons.cursor == before, "the cursor moved back")
        await driver.press("question_mark")
        await driver.on(HelpScreen)
