"""A learner's session, by keyboard alone, in the smallest terminal."""

from pathlib import Path

from tests.app.conftest import Start
from tutor.ui.actions import key_of
from tutor.ui.screens.course_screen import CourseScreen
from tutor.ui.screens.solution_screen import SolutionScreen

WRONG = "def double(x):\n    return 3 * x\n"


async def test_open_fail_hint_fix_pass_next_quit_and_come_back(start: Start, home: Path):
    own = home / "workspace" / "mini" / "double.py"
    async with start() as driver:
        await driver.on(CourseScreen)
        await driver.shows("0 of 2 passed")
        await driver.shows("Twice as much")
        await driver.press("enter")
        await driver.shows("Write double(x).")
        await driver.shows("return 2 * x")

        await driver.shows(f"{key_of('to_code')}: your code")
        await driver.press("enter")
        await driver.until(lambda: driver.app.focused is driver.editor, "the code")
        assert driver.editor.text == driver.lesson.lesson.starter
        await driver.write("def double(x):\n    ")
        for key in "return 3 * x":
            await driver.pilot.press({" ": "space", "*": "asterisk"}.get(key, key))
        await driver.until(lambda: own.read_text().rstrip() == WRONG.rstrip(), "saved while typing")

        await driver.check()
        await driver.shows("✗ value")
        await driver.shows("largest difference")
        await driver.shows("expected")
        await driver.press("results")
        await driver.shows("every number is 1.5 times the expected one")
        await driver.shows("0 of 2 checks pass")

        await driver.press("hint")
        await driver.shows("Hint 1 of 2")
        await driver.shows("Add it to itself")
        await driver.press("escape")

        await driver.press("code")
        await driver.write(WRONG.replace("3", "2"))
        await driver.check()
        assert driver.results.report is not None
        assert driver.results.report.verdict == "pass"
        await driver.shows("2 of 2 checks pass")
        await driver.shows("JAX compiles")
        await driver.shows("PyTorch")
        await driver.shows("Passed after 2 tries, with 1 hint.")
        await driver.until(
            lambda: driver.app.focused is driver.results.pass_card, "the card of the pass"
        )
        await driver.shows(f"{key_of('next_lesson')} next lesson")
        await driver.press("code")
        await driver.shows(f"{key_of('next')} next lesson")
        await driver.press("results")

        await driver.press("d")
        await driver.on(SolutionScreen)
        await driver.shows("identical to the solution")
        await driver.press("onward")
        await driver.on_lesson("tall")
        await driver.press("code")
        await driver.press("down", "right", "right")
        await driver.press("quit")
        await driver.pilot.pause()

    assert (home / "workspace" / "mini" / "tall.py").exists()
    async with start() as driver:
        await driver.on_lesson("tall")
        assert driver.editor.cursor_location == (1, 2)
        await driver.press("course")
        await driver.on(CourseScreen)
        await driver.shows("1 of 2 passed")
        await driver.shows("✓ Twice as much")
        await driver.shows("▶ Upright")
