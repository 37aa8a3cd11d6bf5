"""Print what every screen shows when all function and control keys are different ones.

Run by test_keys.py in a process of its own: bindings are made when the screens are imported.
"""

import asyncio
import shutil
import sys
from pathlib import Path

from msgspec.structs import replace

from tests.conftest import MINI
from tutor.ui.actions import ACTIONS


def other(key: str) -> str:
    """Return `f17` for `f5`, and `alt+q` for `ctrl+q`."""
    if key[:1] == "f" and key[1:].isdigit():
        return f"f{int(key[1:]) + 12}"
    return key.replace("ctrl+", "alt+")


for name, action in ACTIONS.items():
    ACTIONS[name] = replace(action, keys=",".join(map(other, action.keys.split(","))))


async def main(folder: Path) -> None:
    from tests.app.conftest import Driver
    from tutor.learner.progress import Progress
    from tutor.learner.workspace import Workspace
    from tutor.pack import open_pack
    from tutor.ui.app import TutorApp
    from tutor.ui.desk import Desk
    from tutor.ui.preview_app import PreviewApp
    from tutor.ui.screens.confirm_screen import ConfirmScreen
    from tutor.ui.screens.course_screen import CourseScreen
    from tutor.ui.screens.help_screen import HelpScreen
    from tutor.ui.screens.lesson_screen import LessonScreen
    from tutor.ui.screens.map_screen import MapScreen
    from tutor.ui.screens.preview_screen import PreviewScreen
    from tutor.ui.screens.problems_screen import ProblemsScreen
    from tutor.ui.screens.solution_screen import SolutionScreen

    root = Path(shutil.copytree(MINI.parent, folder / "pack") / "lessons")
    with (root / "pack.yaml").open("a") as manifest:
        manifest.write("    map: [{torch: x, jax: y, lesson: tall}]\n")
    double = root / "basics" / "double.yaml"
    sound = double.read_text()
    double.write_text("title: [")
    pack = open_pack(root)
    with Desk(pack, Workspace(pack, folder), Progress(folder / "p.db"), warm=False) as desk:
        app = TutorApp(desk)
        async with app.run_test(size=(100, 40), notifications=True) as pilot:
            driver = Driver(app, pilot)
            await driver.on(CourseScreen)
            await driver.shows("Keys")
            print(driver.text)
            await driver.press("up", "open")
            await driver.on(MapScreen)
            await driver.shows("Keys")
            print(driver.text)
            await driver.press("leave", "down", "open")
            await driver.on(ProblemsScreen)
            print(driver.text)
            double.write_text(sound)
            await driver.press("close", "open")
            for keys, screen in (
                (["menu"], LessonScreen),
                (["menu", "brief"], LessonScreen),
                (["results"], LessonScreen),
                (["help"], HelpScreen),
                (["close", "hint"], LessonScreen),
                (["close_hint", "reset"], ConfirmScreen),
                (["no", "solution", "yes"], SolutionScreen),
            ):
                await driver.press(*keys)
                await driver.on(screen)
                await pilot.pause(0.2)
                print(driver.text)
            await driver.press("next")
            await driver.shows("Upright")
            await driver.press("next")
            await driver.until(lambda: bool(driver.notifications), "that it was the last lesson")
            print(driver.notifications)
        app = PreviewApp(desk, "tall")
        async with app.run_test(size=(100, 40)) as pilot:
            driver = Driver(app, pilot)
            await driver.on(PreviewScreen)
            (root / "basics" / "tall.yaml").write_text("title: [")
            await driver.shows("in the saved files")
            print(driver.text)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
