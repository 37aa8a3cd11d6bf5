"""Home: where to go on, progress by track, and the search."""

from pathlib import Path

import pytest

from tests.app.conftest import Driver, Start
from tutor.manifest import Pack
from tutor.pack import load_pack, open_pack
from tutor.report import CheckResult, Report
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.map_screen import MapScreen

SCREENS = Path(__file__).parents[1] / "packs" / "screens" / "lessons"


@pytest.fixture(scope="module")
def tracks() -> Pack:
    """A pack with two tracks, which have maps."""
    return load_pack(SCREENS)


def lines(driver: Driver) -> list[str]:
    return [line.rstrip() for line in driver.text.splitlines()]


async def home(driver: Driver) -> None:
    """Go to the home, from the lesson that a start opens."""
    await driver.on(LessonScreen)
    await driver.press("course")
    await driver.on(CourseScreen)


def record(driver: Driver, lesson: str, verdict: str = "pass", checks: str = "") -> None:
    """Record that a lesson was opened and checked: `p` for a check that passes, `f` for others."""
    results = tuple(
        CheckResult(f"check {n}", "value", "pass" if one == "p" else "fail")
        for n, one in enumerate(checks)
    )
    progress, pack = driver.app.desk.progress, driver.app.desk.pack.id
    progress.opened(pack, lesson)
    progress.record(pack, Report(lesson, verdict, results))  # type: ignore[arg-type]


# --- going on ----------------------------------------------------------------------------------


async def test_one_key_begins_and_later_goes_on(start: Start):
    async with start() as driver:
        await driver.shows("c  begin with Twice as much")
        await driver.press("end", "go_on")
        await driver.on_lesson("double")
        record(driver, "double", "fail", "pf")
        await driver.press("course")
        await driver.shows("c  go on with Twice as much  ·  1 of 2 checks pass")
        record(driver, "double")
        await driver.press("go_on")
        await driver.on(LessonScreen)
        await driver.press("course")
        await driver.shows("c  go on with Upright")
        await driver.press("home", "go_on")
        await driver.on_lesson("tall")


async def test_a_click_on_the_line_goes_on(start: Start):
    async with start() as driver:
        await driver.shows("begin with Twice as much")
        await driver.pilot.click("#go-on", offset=(10, 0))
        await driver.on_lesson("double")


async def test_going_on_into_a_new_track_shows_its_map_first(start: Start, tracks: Pack):
    async with start(pack=tracks) as driver:
        await driver.on(CourseScreen)
        record(driver, "rows")
        record(driver, "pairs")
        driver.app.open_lesson("pairs")
        await home(driver)
        await driver.shows("go on with Draw with a key")
        await driver.press("go_on")
        await driver.on(MapScreen)
        await driver.shows("Enter begins the track")
        await driver.press("open")
        await driver.on_lesson("draws")


async def test_when_every_lesson_is_done_the_key_says_so(start: Start):
    async with start() as driver:
        await driver.on(CourseScreen)
        record(driver, "double")
        record(driver, "tall")
        driver.app.open_lesson("tall")
        await home(driver)
        await driver.shows("every lesson is done")
        await driver.press("go_on")
        await driver.notifies("Open any of them again")
        assert isinstance(driver.app.screen, CourseScreen)


# --- tracks ------------------------------------------------------------------------------------


async def test_a_track_says_how_far_it_is_and_how_long_the_rest_takes(start: Start, tracks: Pack):
    async with start(pack=tracks) as driver:
        await driver.on(CourseScreen)
        await driver.shows("17 min left")
        record(driver, "rows")
        driver.app.open_lesson("pairs")
        await home(driver)
        await driver.shows("●○")
        (batching,) = [line for line in lines(driver) if "Batching  · map" in line]
        assert batching.split() == ["Batching", "·", "map", "●○", "5", "min", "left"]
        assert batching.endswith("5 min left")
        record(driver, "pairs")
        driver.app.open_lesson("pairs")
        await home(driver)
        await driver.shows("●●")
        (batching,) = [line for line in lines(driver) if "Batching  · map" in line]
        assert batching.split()[-2:] == ["●●", "done"]
        await driver.shows("▶ Draw with a key")


async def test_a_track_tells_those_who_know_it_of_its_review(
    start: Start, tmp_path: Path, tracks: Pack
):
    text = (SCREENS / "pack.yaml").read_text()
    assert text.count("[rows, pairs]") == 1
    root = tmp_path / "lessons"
    root.mkdir()
    for track in ("batching", "randomness"):
        (root / track).symlink_to(SCREENS / track)
    text = text.replace("[rows, pairs]", "[rows, pairs]\n    review: pairs")
    (root / "pack.yaml").write_text(text)
    async with start(size=(120, 40), pack=open_pack(root)) as driver:
        await driver.until(lambda: driver.lessons.cursor is not None, "a cursor")
        await driver.press("up")
        await driver.shows("Do you know this already? Pass the review,")


# --- searching ---------------------------------------------------------------------------------


async def test_lessons_are_found_while_words_are_typed(start: Start):
    async with start(pack=open_pack()) as driver:
        await driver.until(lambda: driver.lessons.cursor is not None, "a cursor")
        found = driver.lessons
        await driver.press("search", *"cross_entropy")
        await driver.until(lambda: 0 < len(found.visible_lessons) < 10, "few lessons")
        first = found.visible_lessons[0]
        assert "cross_entropy" in (driver.app.desk.pack.lesson(first).torch or "")
        await driver.press("down")
        await driver.until(lambda: found.highlighted == found.visible_lessons[1], "the second")
        await driver.press("up")
        await driver.press(*["backspace"] * len("cross_entropy"), *"grad")
        await driver.until(lambda: found.visible_lessons[0] == "grad-basics", "grad")
        await driver.cursor_on("grad-basics")
        await driver.shows("Gradients")  # the track of each lesson
        await driver.press("enter")
        await driver.on_lesson("grad-basics")
        await driver.press("course")
        await driver.cursor_on("grad-basics")
        await driver.shows("min left")  # all lessons again


async def test_escape_closes_the_search_and_shows_all_lessons(start: Start):
    async with start() as driver:
        await driver.shows("Twice as much")
        assert "All lessons" not in driver.text
        await driver.press("search", *"upright")
        await driver.until(lambda: driver.lessons.visible_lessons == ["tall"], "one lesson")
        await driver.shows("Esc All lessons")
        await driver.press("escape")
        await driver.until(lambda: len(driver.lessons.visible_lessons) == 2, "all lessons")
        assert driver.lessons.highlighted == "tall"
        assert driver.lessons.has_focus
        await driver.press("k")
        await driver.cursor_on("double")


async def test_nothing_found_says_what_to_do(start: Start):
    async with start() as driver:
        await driver.shows("Twice as much")
        await driver.press("search", *"qqq")
        await driver.shows("No lesson says 'qqq'. Type fewer letters")
        await driver.press("down", "enter")
        assert isinstance(driver.app.screen, CourseScreen)
        await driver.press(*["backspace"] * 3)
        await driver.shows("Twice as much")
        assert "No lesson says" not in driver.text
        await driver.until(lambda: driver.lessons.highlighted is not None, "a cursor")


async def test_a_click_on_the_search_and_on_a_lesson_found(start: Start):
    async with start() as driver:
        await driver.shows("Twice as much")
        await driver.pilot.click("#search")
        await driver.press(*"upright")
        await driver.until(lambda: driver.lessons.visible_lessons == ["tall"], "one lesson")
        await driver.pilot.click("#lessons", offset=(5, 0))
        await driver.on_lesson("tall")


async def test_nothing_is_cut_in_a_small_terminal(start: Start):
    async with start(pack=open_pack()) as driver:
        await driver.shows("min left")
        catalogue = driver.app.desk.catalogue
        lessons = driver.app.desk.pack.lessons
        await driver.until(lambda: all(map(catalogue.cached, lessons)), "all titles")
        found = driver.lessons
        width = found.scrollable_content_region.width
        for page in range(12):
            await driver.press(*(["pagedown"] if page else []))
            text = driver.text.rpartition("──")[0]
            assert "…" not in text.replace("DataLoader …", "")
        assert width >= 70


async def test_a_key_on_the_list_keeps_the_last_lesson_from_opening_by_itself(start: Start):
    async with start() as driver:
        await driver.on(CourseScreen)
        await driver.press("down")  # before the lesson has been read
        driver.app._open_last("double")
        await driver.pilot.pause()
        assert isinstance(driver.app.screen, CourseScreen)
