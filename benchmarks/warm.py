"""From a save to the verdict, as in the lesson screen: a waiting sandbox gets the code.

Measured from the call of `runner.run` to `RunFinished`. The timing against PyTorch that follows a
pass is stopped. `benchmarks.screen` includes the screen itself.
"""

import queue
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from msgspec import Struct

from benchmarks.answers import Answer
from tutor.engine.background import RunEvent, RunFinished, Runner, RunStopped
from tutor.engine.plan import configurations
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.pool import Pool
from tutor.report import Report
from tutor.ui.desk import Desk

PATIENCE = 300.0
"""Timeout in seconds for a sandbox to be ready, and for a verdict."""


class Sample(Struct, frozen=True):
    """A run of an answer: the seconds until its verdict, and the report."""

    answer: Answer
    seconds: float
    report: Report

    @property
    def correct(self) -> bool:
        return self.report.verdict in self.answer.accepted


@contextmanager
def desk(pack: Pack) -> Iterator[Desk]:
    """Yield a desk without any progress."""
    with tempfile.TemporaryDirectory(prefix="jaxtutor-desk-") as name:
        folder = Path(name)
        with Desk(pack, Workspace(pack, folder / "work"), Progress(folder / "db")) as made:
            yield made


def wait(desk: Desk, lesson: Lesson) -> None:
    """Open a lesson, and wait until its sandboxes and the next lesson's are ready, so that nothing
    runs in the background of a measurement.

    Raises:
        TimeoutError: they are not ready in time.
    """
    desk.looks_at(lesson)
    desk.expect(lesson)
    assert desk.pool is not None
    following = desk.pack.next_after(lesson.id)
    wait_for(
        desk.pool, lesson, *([desk.pack.lesson(following)] if following is not None else [])
    )  # fmt: skip


def wait_for(pool: Pool, *lessons: Lesson) -> None:
    """Wait until the sandboxes of these lessons are ready.

    Raises:
        TimeoutError: they are not ready in time.
    """
    for lesson in lessons:
        if not pool.ready(lesson, PATIENCE):
            raise TimeoutError(f"no sandbox is ready for {lesson.id}")


def judge(runner: Runner, lesson: Lesson, code: str) -> tuple[float, Report]:
    """Check code.

    **Returns:** the seconds until the verdict, and the report.

    Raises:
        queue.Empty: no verdict in time.
    """
    events: queue.SimpleQueue[tuple[float, RunEvent]] = queue.SimpleQueue()

    def on_event(event: RunEvent) -> None:
        if isinstance(event, RunFinished | RunStopped):
            events.put((time.perf_counter(), event))

    began = time.perf_counter()
    number = runner.run(lesson, code, on_event)
    ended, event = events.get(timeout=PATIENCE)
    runner.stop(number)
    assert isinstance(event, RunFinished), "stopped by another run"
    return ended - began, event.report


def measure(
    desk: Desk, answers: Iterable[Answer], repeats: int, uncounted: int = 1
) -> Iterator[Sample]:
    """Yield a sample of every answer, `repeats` times, each in a new waiting sandbox.

    **Arguments:** `uncounted`: runs before them that are not counted. They may compute PyTorch's
    answers and compile programs; 0 if both are cached.
    """
    answers = list(answers)
    for turn in range(-uncounted, repeats):
        for answer in answers if turn >= 0 else answers[:1]:
            wait(desk, answer.lesson)
            seconds, report = judge(desk.runner, answer.lesson, answer.code)
            if turn >= 0:
                yield Sample(answer, seconds, report)


def run_ahead(
    desk: Desk, lesson: Lesson, code: str, meanwhile: Callable[[], object] = lambda: None
) -> None:
    """Run code ahead, as in a pause from typing, until that has finished.

    **Arguments:** `lesson`: must be ready; `meanwhile` is called repeatedly.

    Raises:
        TimeoutError: it does not finish in time.
    """
    assert desk.pool is not None
    processes = desk.pool.processes()
    waiting = [pid for role, pid in processes.items() if role.startswith("waiting")]
    needed = min(len(configurations(lesson)), len(waiting))
    began = time.monotonic()
    assert desk.runner.run_ahead(lesson, code), "another run goes on"
    # The sandboxes that it takes end with it.
    while sum(not psutil.pid_exists(pid) for pid in waiting) < needed:
        if time.monotonic() - began > PATIENCE:
            raise TimeoutError(f"running ahead does not finish: {lesson.id}")
        meanwhile()
        time.sleep(0.01)
