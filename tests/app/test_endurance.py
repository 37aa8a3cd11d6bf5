"""Random keys and sizes: no exception, and at the end the app still does what it should."""

import random

import pytest

from tests.app.conftest import Driver, Start
from tutor.ui.actions import ACTIONS
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.widgets.editor import CodeEditor

LEAVING = {"quit", "editor", "interrupt"}
"""Actions that end the app, or wait for another program."""

KEYS = sorted(
    {
        key
        for name, action in ACTIONS.items()
        if name not in LEAVING
        for key in action.all_keys.split(",")
        if key
    }
    - {key for name in LEAVING for key in ACTIONS[name].all_keys.split(",")}
)
LETTERS = [*"abcdefghijklmnoprstuvwxyz(){}[]:=.#'\"", "space", "enter", "backspace", "delete"]
MOVES = ["up", "down", "left", "right", "tab", "shift+tab", "pageup", "pagedown", "home", "end"]


async def test_of_random_keys_none_breaks_the_app(start: Start, pytestconfig: pytest.Config):
    chance = random.Random(0)
    count = 2000 if pytestconfig.getoption("proofs") else 150
    async with start() as driver:
        await driver.open()
        for _ in range(count):
            await driver.pilot.press(chance.choice(chance.choice((KEYS, LETTERS, MOVES))))
        await back_on_a_lesson(driver)


async def test_of_random_sizes_none_breaks_the_app(start: Start, pytestconfig: pytest.Config):
    chance = random.Random(1)
    count = 500 if pytestconfig.getoption("proofs") else 40
    async with start() as driver:
        await driver.open()
        for _ in range(count):
            await driver.pilot.resize_terminal(chance.randint(1, 240), chance.randint(1, 70))
            if not chance.randint(0, 3):
                await driver.pilot.press(chance.choice(KEYS))
        await driver.pilot.resize_terminal(100, 40)
        await back_on_a_lesson(driver)


async def back_on_a_lesson(driver: Driver) -> None:
    """Close whatever is open; then typing works as ever."""
    for _ in range(20):
        screen = driver.app.screen
        if isinstance(screen, LessonScreen):
            break
        if len(driver.app.screen_stack) <= 2:
            driver.app.open_lesson("double")
        else:
            driver.app.pop_screen()
        await driver.pilot.pause()
    await driver.on(LessonScreen)
    screen = driver.lesson
    screen.close_menu()
    screen.show_pane("code")
    await driver.write("")
    driver.lesson.query_one(CodeEditor).focus()
    await driver.press(*"ok")
    assert driver.editor.text == "ok"
