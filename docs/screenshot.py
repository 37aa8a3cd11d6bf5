"""Write docs/screenshot.svg: the app in the middle of a lesson.

    .venv/bin/python docs/screenshot.py [FILE]

The real app checks a real wrong answer in real sandboxes; then its screen is exported.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.pack import load_pack
from tutor.ui.actions import ACTIONS
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.widgets.results import ResultsPane

LESSON, MISTAKE = "vmap-basics", "columns come back as rows"
SIZE = (132, 44)


async def photograph(target: Path, home: Path) -> None:
    pack = load_pack()
    lesson = pack.lesson(LESSON)
    mistake = next(m for m in lesson.mistakes if m.name == MISTAKE)
    workspace, progress = Workspace(pack, home / "work"), Progress(home / "progress.db")
    workspace.open(lesson)
    workspace.save(lesson, mistake.applied_to(pack.solution(LESSON) or ""))
    progress.opened(pack.id, LESSON)
    with Desk(pack, workspace, progress) as desk:
        app = TutorApp(desk)
        async with app.run_test(size=SIZE) as pilot:
            while not isinstance(app.screen, LessonScreen):
                await pilot.pause(0.1)
            await pilot.press(ACTIONS["run"].key)
            results = app.screen.query_one(ResultsPane)
            while results.running:
                await pilot.pause(0.1)
            await pilot.press(ACTIONS["code"].key)
            await pilot.pause()
            target.write_text(app.export_screenshot(title="jaxtutor"), encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("JAXTUTOR_HOME", folder)
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "screenshot.svg"
        asyncio.run(photograph(path, Path(folder)))
