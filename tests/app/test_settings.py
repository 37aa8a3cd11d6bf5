"""Themes, and what a learner has set."""

import signal
from pathlib import Path

import pytest
from textual.color import Color

from tests.app.conftest import Start
from tests.cases import for_each
from tutor.learner.settings import Settings, keys_file, own_keys
from tutor.ui.actions import ACTIONS
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.themes import DEFAULT, PALETTES, code_theme

READABLE = 4.5
"""The least contrast of text, by WCAG 2 AA."""


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours by WCAG 2, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in Color.parse(colour).normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", PALETTES)
def test_everything_can_be_read_on_every_surface(name: str):
    colours = PALETTES[name]
    written = (
        "text", "muted", "accent", "good", "bad", "amber",
        "keyword", "string", "number", "function",
    )  # fmt: skip
    for surface in (colours.background, colours.surface):
        for field in written:
            found = contrast(getattr(colours, field), surface)
            assert found >= READABLE, f"{field} on {surface}: {found:.1f}"
    assert contrast(colours.text, colours.raised) >= READABLE


def test_right_and_wrong_differ_in_brightness_or_blueness_for_colour_blind_people():
    colours = PALETTES["jaxtutor-blue-orange"]
    good, bad = Color.parse(colours.good), Color.parse(colours.bad)
    assert good.b - bad.b > 100


async def test_signals_are_left_alone_without_a_terminal(start: Start):
    """In a test the process is pytest's: `timeout` must be able to end it."""
    before = signal.getsignal(signal.SIGTERM)
    async with start():
        assert signal.getsignal(signal.SIGTERM) == before


async def test_the_theme_is_remembered_and_colours_code(start: Start):
    async with start() as driver:
        await driver.on(CourseScreen)
        assert driver.app.theme == DEFAULT
        assert {*driver.app.available_themes} == {*PALETTES}
        await driver.open()
        for name in PALETTES:
            driver.app.theme = name
            await driver.until(
                lambda name=name: driver.editor.theme == f"code-{name}", "its colours"
            )
        driver.app.theme = "jaxtutor-light"
        light = code_theme("jaxtutor-light").base_style
        await driver.until(lambda: driver.editor.theme == "code-jaxtutor-light", "its theme")
        assert light is not None and light.bgcolor is not None
        background = driver.editor.styles.background.rich_color
        assert background.triplet == light.bgcolor.triplet
    async with start() as driver:
        assert driver.app.theme == "jaxtutor-light"


async def test_keys_of_the_learner_take_the_place_of_ours(start: Start, home: Path):
    keys_file().parent.mkdir(parents=True, exist_ok=True)
    keys_file().write_text('{"run": "f2,ctrl+e", "brief": "ctrl+b"}')
    async with start(size=(120, 40)) as driver:
        await driver.open()
        await driver.press("f2")
        await driver.until(lambda: driver.results.report is not None, "a report")


@for_each(
    "text, words",
    [
        ('{"runn": "f2"}', "there is no action 'runn'; did you mean 'run'?"),
        ("{", "your keys are not used"),
        ('["run"]', 'expected {"run": "ctrl+e"}'),
        ('{"run": 5}', "run: expected keys as text"),
    ],
)
def test_a_wrong_file_of_keys_is_not_used(text: str, words: str):
    keys_file().parent.mkdir(parents=True, exist_ok=True)
    keys_file().write_text(text)
    keys, problem = own_keys(ACTIONS)
    assert not keys
    assert words in problem


async def test_a_wrong_file_of_keys_is_reported(start: Start):
    keys_file().parent.mkdir(parents=True, exist_ok=True)
    keys_file().write_text("{")
    async with start() as driver:
        await driver.notifies("your keys are not used")
        await driver.press("palette")


def test_settings_survive_damage_and_a_folder_that_cannot_be_written(tmp_path: Path):
    file = tmp_path / "settings.json"
    settings = Settings(file)
    assert settings.get("theme") is None
    settings.set("theme", "x")
    assert Settings(file).get("theme") == "x"
    file.write_text("{")
    assert settings.get("theme") is None
    settings.set("theme", "y")
    assert settings.get("theme") == "y"
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    Settings(blocked / "settings.json").set("theme", "x")
    assert Settings(blocked / "settings.json").get("theme") is None


async def test_panes_keep_the_sizes_that_a_learner_gave_them(start: Start):
    async with start(size=(120, 40)) as driver:
        await driver.open()
        await driver.press("code")
        before = driver.editor.region.width
        await driver.press("menu", "plus", "menu", "plus")
        await driver.until(lambda: driver.editor.region.width >= before + 10, "wider code")
        wide = driver.editor.region.width
        await driver.press("menu", "z")
        await driver.until(lambda: driver.editor.region.width >= 119, "the code alone")
        await driver.press("menu", "z")
        await driver.until(lambda: driver.editor.region.width == wide, "as wide as before")
    async with start(size=(120, 40)) as driver:
        await driver.open()
        await driver.until(lambda: driver.editor.region.width == wide, "as wide as last time")
        await driver.pilot.resize_terminal(80, 40)
        await driver.press("torch")
        high = driver.lesson.torch.styles.max_height
        await driver.press("menu", "minus")
        assert high is not None and driver.lesson.torch.styles.max_height is not None
        assert driver.lesson.torch.styles.max_height.value < high.value
        await driver.press("code")
        await driver.until(lambda: driver.editor.region.width == 80, "the whole width")


async def test_a_theme_that_is_not_ours_is_not_used(start: Start):
    """Releases before 0.2 offered Textual's own, which lack colours and ended the app."""
    Settings().set("theme", "dracula")
    async with start() as driver:
        await driver.on(CourseScreen)
        assert driver.app.theme == DEFAULT
