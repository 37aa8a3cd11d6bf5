"""The whole app, headless: from the key that runs the code to the screen that shows the verdict,
and the memory of all its processes.

    python -m benchmarks.screen REPEATS LESSON…

Runs in a new process, so that only the app is in its memory.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec import Struct
from textual.pilot import Pilot

from benchmarks import warm
from benchmarks.memory import pss_mb
from benchmarks.processes import memory_mb, wait_until_idle
from tutor.lesson import Lesson
from tutor.pack import open_pack
from tutor.ui.app import TutorApp
from tutor.ui.desk import Desk
from tutor.ui.screens.lesson_screen import LessonScreen
from tutor.ui.widgets.editor import CodeEditor
from tutor.ui.widgets.results import ResultsPane

SIZE = (120, 40)


class Measured(Struct, frozen=True):
    """`seconds`: from the key to the painted verdict on each lesson's solution; `memory`: MiB per
    process while a lesson and the next one are ready; `ahead`: MiB of all processes before, while
    and after code is run ahead."""

    seconds: dict[str, list[float]]
    memory: dict[str, float]
    ahead: dict[str, float]


def measure(repeats: int, lessons: Sequence[str]) -> Measured:
    """Measure in a new process."""
    command = [sys.executable, "-m", "benchmarks.screen", str(repeats), *lessons]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Measured)


async def _measure(desk: Desk, repeats: int, names: Sequence[str]) -> Measured:
    app = TutorApp(desk)
    seconds: dict[str, list[float]] = {}
    memory: dict[str, float] = {}
    ahead: dict[str, float] = {}
    async with app.run_test(size=SIZE) as pilot:
        for name in names:
            lesson = desk.pack.lesson(name)
            seconds[name] = await _lesson(app, pilot, lesson, repeats)
            if not memory:
                assert desk.pool is not None
                found = {"main": os.getpid(), **desk.pool.processes()}
                memory = {process: pss_mb(pid) for process, pid in found.items()}
                ahead = await asyncio.to_thread(_run_ahead, desk, lesson)
    return Measured(seconds, memory, ahead)


def _run_ahead(desk: Desk, lesson: Lesson) -> dict[str, float]:
    """Return the MiB of all processes, which are ready; the most of them while code is run ahead;
    and of those that are ready afterwards."""
    own = os.getpid()
    wait_until_idle(own, warm.PATIENCE)
    before, during = memory_mb(own), [0.0]
    # Other code than on the screen, which the app may have run ahead.
    code = f"{desk.pack.solution(lesson.id)}\n# Run ahead.\n"
    warm.run_ahead(desk, lesson, code, lambda: during.append(memory_mb(own)))
    warm.wait(desk, lesson)
    wait_until_idle(own, warm.PATIENCE)
    return {"ready": before, "while running ahead": max(during), "afterwards": memory_mb(own)}


async def _lesson(app: TutorApp, pilot: "Pilot[int]", lesson: Lesson, repeats: int) -> list[float]:
    app.open_lesson(lesson.id)
    await pilot.pause()
    screen = app.screen
    assert isinstance(screen, LessonScreen)
    editor, results = screen.query_one(CodeEditor), screen.query_one(ResultsPane)
    solution = app.desk.pack.solution(lesson.id)
    assert solution is not None
    editor.replace(solution, editor.document.start, editor.document.end)
    await pilot.pause()
    seconds = []
    for turn in range(repeats + 1):
        await asyncio.to_thread(warm.wait, app.desk, lesson)
        # Not with Pilot's `press`, which returns only after the process has been idle.
        before = results.report
        began = time.perf_counter()
        screen.call_later(screen.run_action, "run")
        # What was run ahead is there at once.
        await _until(lambda: results.running or results.report is not before)  # noqa: B023
        await _until(lambda: results.report is not None)
        await _until(lambda: results.summary in _painted(screen))
        assert results.report is not None and results.report.passed, results.summary
        if turn:
            seconds.append(time.perf_counter() - began)
        screen.action_stop()
    await asyncio.to_thread(warm.wait, app.desk, lesson)
    return seconds


async def _until(condition: Callable[[], bool]) -> None:
    began = time.perf_counter()
    while not condition():
        assert time.perf_counter() - began < warm.PATIENCE
        await asyncio.sleep(0.001)


def _painted(screen: LessonScreen) -> str:
    """Return the text on the screen."""
    return "\n".join(strip.text for strip in screen._compositor.render_strips())


def main() -> None:
    """Print `Measured` as JSON."""
    with warm.desk(open_pack()) as desk:
        measured = asyncio.run(_measure(desk, int(sys.argv[1]), sys.argv[2:]))
    sys.stdout.buffer.write(msgspec.json.encode(measured))


if __name__ == "__main__":
    main()
