"""The maps of tracks, and the lessons that are known from a review."""

import shutil
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.app.conftest import Driver, Start
from tests.app.test_course_screen import edit
from tutor.manifest import Pack
from tutor.pack import load_pack, open_pack
from tutor.report import Report
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.help_screen import HelpScreen
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.screens.map_screen import MapScreen
from tutor.ui.screens.problems_screen import ProblemsScreen
from tutor.ui.widgets.map_table import MapTable

SCREENS = Path(__file__).parents[1] / "packs" / "screens"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SCREENS, tmp_path / "pack")) / "lessons"


@pytest.fixture
def maps() -> Pack:
    return load_pack(SCREENS / "lessons")


def table(driver: Driver) -> MapTable:
    return driver.app.screen.query_one(MapTable)


def code(driver: Driver) -> str:
    """Return the PyTorch of the row under the cursor."""
    row = table(driver).highlighted
    return row.torch if row is not None else ""


async def opened(driver: Driver) -> None:
    """Open the map of the first track."""
    await driver.cursor_on("rows")
    await driver.press("up", "open")
    await driver.on(MapScreen)
    await driver.shows("torch.bmm(a, b)")


# --- the list of lessons -----------------------------------------------------------------------


async def test_the_cursor_begins_on_a_lesson_and_reaches_tracks_with_a_map(
    start: Start, root: Path
):
    text = (root / "pack.yaml").read_text()
    (root / "pack.yaml").write_text(text[: text.rindex("    map:")])  # the second track has none
    async with start(pack=open_pack(root)) as driver:
        cursor = driver.lessons
        await driver.cursor_on("rows")
        await driver.press("down", "down")
        assert cursor.highlighted == "draws"
        await driver.press("down")
        assert cursor.highlighted is None
        assert cursor.highlighted_track is not None
        assert cursor.highlighted_track.id == "batching"
        await driver.press("down", "home")
        assert cursor.highlighted_track is not None
        await driver.press("end")
        assert (cursor.highlighted, cursor.highlighted_track) == ("draws", None)


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_track_is_described_with_its_map(start: Start, maps: Pack, size: tuple[int, int]):
    async with start(size=size, pack=maps) as driver:
        await driver.shows("Write the function for one example")
        await driver.press("up")
        await driver.shows("Functions of one example, and vmap")
        await driver.shows("torch.cdist(a, b)")
        await driver.press("down")
        await driver.shows("About 12 minutes.")
        assert "torch.cdist" not in driver.text


async def test_a_click_on_a_track_opens_its_map(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await driver.shows("Randomness")
        await driver.pilot.hover("#lessons", offset=(3, 3))
        await driver.pilot.click("#lessons", offset=(3, 3))
        await driver.on(MapScreen)
        await driver.shows("torch.manual_seed(0)")
        await driver.press("leave")
        await driver.on(CourseScreen)
        assert driver.lessons.highlighted_track is not None


# --- the map -----------------------------------------------------------------------------------


async def test_sixteen_rows_fit_on_a_small_screen(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await opened(driver)
        rows = maps.manifest.tracks[0].map
        assert len(rows) == 16
        for row in rows:
            await driver.shows(row.torch)
        assert not table(driver).show_vertical_scrollbar
        await driver.shows("(0, None))…")
        await driver.shows("jax.vmap(predict, in_axes=(None, None, 0))(w, b, xs)")  # below
        await driver.shows("Enter opens the lesson: Map a function over rows")


async def test_a_wide_screen_shows_the_lessons_and_cuts_nothing(start: Start, maps: Pack):
    async with start(size=(120, 40), pack=maps) as driver:
        await opened(driver)
        await driver.shows("jax.vmap(jax.vmap(d, (None, 0)), (0, None))(a, b)     pairs")


async def test_the_keys_of_the_map(start: Start, root: Path):
    rows = "".join(f"      - {{torch: before {n}, jax: after {n}}}\n" for n in range(24))
    text = (root / "pack.yaml").read_text()
    (root / "pack.yaml").write_text(text[: text.rindex("    map:")] + f"    map:\n{rows}")
    async with start(pack=open_pack(root)) as driver:
        await driver.until(lambda: driver.lessons.cursor is not None, "a cursor")
        await driver.press("down", "down", "open")
        await driver.on(MapScreen)
        await driver.until(lambda: code(driver) == "before 0", "the first row")
        await driver.press("down", "down", "up")
        assert code(driver) == "before 1"
        await driver.press("pagedown")
        assert 12 < int(code(driver).split()[1]) < 20
        await driver.press("pagedown")
        assert code(driver) == "before 23"
        await driver.shows("before 23")
        await driver.press("down")
        assert code(driver) == "before 0"
        await driver.shows("before 0 ")
        await driver.press("up", "pageup")
        assert 3 < int(code(driver).split()[1]) < 12
        await driver.shows(code(driver))
        await driver.press("pageup", "pageup")
        assert code(driver) == "before 0"


async def test_a_row_opens_its_lesson_in_place_of_the_map(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await opened(driver)
        await driver.press("down", "down")
        assert code(driver) == "torch.cdist(a, b)"
        await driver.press("open")
        await driver.on_lesson("pairs")
        await driver.press("course")
        await driver.on(CourseScreen)


async def test_a_row_without_a_lesson_says_so(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await opened(driver)
        await driver.press("down", "down", "down")
        await driver.shows("Or `jnp.expand_dims(x, 0)`.")
        assert "opens the lesson" not in driver.text
        await driver.press("open")
        await driver.notifies("No lesson is about this row.")
        assert isinstance(driver.app.screen, MapScreen)


async def test_a_click_on_a_row_opens_its_lesson_and_the_search_keeps_the_focus(
    start: Start, maps: Pack
):
    async with start(pack=maps) as driver:
        await opened(driver)
        await driver.pilot.click("#map-rows", offset=(3, 0))  # the header
        await driver.pilot.hover("#map-rows", offset=(3, 4))
        await driver.pilot.click("#map-rows", offset=(3, 4))
        await driver.notifies("No lesson is about this row.")
        assert code(driver) == "x.unsqueeze(0)"
        assert isinstance(driver.app.focused, Input)
        await driver.pilot.click("#map-rows", offset=(3, 2))
        await driver.on_lesson("rows")


async def test_a_broken_lesson_is_reported_above_the_map(start: Start, root: Path):
    (root / "batching" / "rows.yaml").write_text("title: [")
    async with start(pack=open_pack(root)) as driver:
        await opened(driver)
        await driver.press("open")
        await driver.on(ProblemsScreen)
        await driver.press("close")
        await driver.on(MapScreen)


async def test_the_keys_are_listed(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await opened(driver)
        await driver.press("help")
        await driver.on(HelpScreen)
        await driver.shows("Go back.")
        assert "Go to the next lesson." not in driver.text
        await driver.press("close", "next")
        assert isinstance(driver.app.screen, MapScreen)


# --- the search --------------------------------------------------------------------------------


async def test_the_search_covers_all_tracks(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await opened(driver)
        await driver.press("down", *"KEY")
        await driver.shows("Randomness")
        await driver.shows("torch.randn(n, d)")
        assert "torch.bmm" not in driver.text
        assert code(driver) == "torch.manual_seed(0)"
        await driver.press("open")
        await driver.on_lesson("draws")


async def test_a_search_without_results_opens_nothing(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await opened(driver)
        await driver.press(*"quz", "down", "pagedown", "open")
        await driver.shows("No row contains this.")
        assert isinstance(driver.app.screen, MapScreen)
        assert table(driver).highlighted is None
        await driver.press("backspace", "backspace", "backspace")
        await driver.shows("torch.bmm(a, b)")
        assert code(driver) == "xs @ w + b"
        await driver.press("leave")
        await driver.on(CourseScreen)


async def test_letters_that_are_keys_elsewhere_are_searched_for(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await opened(driver)
        await driver.press(*"squ")
        await driver.until(lambda: code(driver) == "x.unsqueeze(0)", "the row there")


# --- entering a track --------------------------------------------------------------------------


async def at_the_end_of_the_first_track(driver: Driver) -> None:
    await driver.cursor_on("rows")
    await driver.press("down", "open")
    await driver.on(LessonScreen)
    await driver.shows("2/3")


async def test_the_map_is_shown_before_a_track_is_begun(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await at_the_end_of_the_first_track(driver)
        await driver.press("next")
        await driver.on(MapScreen)
        await driver.press("leave")
        await driver.on_lesson("pairs")
        await driver.press("next")
        await driver.on(MapScreen)
        await driver.shows("Enter begins the track: Draw with a key")
        assert table(driver).highlighted is None
        await driver.press("open")
        await driver.on_lesson("draws")
        assert len(driver.app.screen_stack) == 3  # the base, the list, the lesson


async def test_the_key_for_the_next_lesson_begins_the_track_too(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await at_the_end_of_the_first_track(driver)
        await driver.press("next")
        await driver.on(MapScreen)
        await driver.press("help")
        await driver.shows("Go to the next lesson.")
        await driver.press("close", "next")
        await driver.on_lesson("draws")


async def test_a_row_chosen_before_a_track_is_begun_opens_its_lesson(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await at_the_end_of_the_first_track(driver)
        await driver.press("next")
        await driver.on(MapScreen)
        await driver.press("down", "down", "down")
        assert code(driver) == "torch.randperm(n)"
        await driver.press("open")  # no lesson: it does not begin the track
        await driver.notifies("No lesson is about this row.")
        await driver.press(*"quz", "open")
        assert isinstance(driver.app.screen, MapScreen)
        await driver.press("backspace", "backspace", "backspace")
        await driver.shows("begins the track")
        await driver.press(*"torch.vmap")
        await driver.until(lambda: code(driver) == "torch.vmap(f)", "the row there")
        await driver.press("open")
        await driver.on_lesson("rows")
        assert len(driver.app.screen_stack) == 3


async def test_the_lesson_below_the_map_is_kept_when_it_is_chosen(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        await at_the_end_of_the_first_track(driver)
        below = driver.app.screen
        await driver.press("code")
        await driver.write("# not saved yet")
        await driver.press("next")
        await driver.on(MapScreen)
        await driver.press(*"cdist", "open")
        await driver.on(LessonScreen)
        assert driver.app.screen is below
        assert driver.editor.code == "# not saved yet"


async def test_a_track_that_has_been_opened_is_entered_at_once(start: Start, maps: Pack):
    async with start(pack=maps) as driver:
        driver.app.desk.progress.opened("screens", "draws")
        await at_the_end_of_the_first_track(driver)
        await driver.press("next")
        await driver.shows("3/3")
        assert driver.lesson.lesson.id == "draws"


async def test_within_a_track_and_into_one_without_a_map_the_next_lesson_opens(
    start: Start, root: Path
):
    text = (root / "pack.yaml").read_text()
    (root / "pack.yaml").write_text(text[: text.rindex("    map:")])
    async with start(pack=open_pack(root)) as driver:
        await driver.cursor_on("rows")
        await driver.press("open")
        await driver.on(LessonScreen)
        for lesson in ("pairs", "draws"):
            await driver.press("next")
            await driver.on_lesson(lesson)


# --- known lessons -----------------------------------------------------------------------------


async def test_a_passed_review_is_shown_in_the_list(start: Start, root: Path):
    edit(root / "pack.yaml", "[rows, pairs]", "[rows, pairs]\n    review: pairs")
    async with start(size=(120, 40), pack=open_pack(root)) as driver:
        await driver.shows("0 of 3 passed")
        await driver.shows("  Compare every pair of rows (review)")
        assert "known" not in driver.text
        await driver.press("down")
        await driver.shows("A review covers its track")
        await driver.press("open")
        await driver.on(LessonScreen)
        driver.app.desk.progress.record("screens", Report("pairs", "pass", ()))
        await driver.press("course")
        await driver.shows("1 of 3 passed, 1 known")
        await driver.shows("~ Map a function over rows")
        await driver.shows("✓ Compare every pair of rows (review)")
        await driver.press("up")
        await driver.shows("Counts as known")
        driver.app.desk.progress.record("screens", Report("rows", "pass", ()))
        await driver.press("open")
        await driver.on(LessonScreen)
        await driver.press("course")
        await driver.shows("2 of 3 passed")
        assert "known" not in driver.text.splitlines()[0]
