"""From a save to the verdict, as in the lesson screen: a waiting sandbox gets the code.

Measured from the call of `runner.run` to `RunFinished`. The timing against PyTorch that follows a
pass is stopped. `benchmarks.screen` includes the screen itself.
"""

import queue
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.answers import Answer
from tutor.engine.background import RunEvent, RunFinished, Runner, RunStopped
from tutor.learner.progress import Progress
from tutor.learner.workspace import Workspace
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import open_pack
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


def measure(desk: Desk, answers: Iterable[Answer], repeats: int) -> Iterator[Sample]:
    """Yield a sample of every answer, `repeats` times, each in a new waiting sandbox.

    One run before them is not counted: it may compute PyTorch's answers and compile programs.
    """
    answers = list(answers)
    for turn in range(repeats + 1):
        for answer in answers if turn else answers[:1]:
            wait(desk, answer.lesson)
            seconds, report = judge(desk.runner, answer.lesson, answer.code)
            if turn:
                yield Sample(answer, seconds, report)


def unseen(pack: Pack, answers: Iterable[Answer], repeats: int) -> Iterator[Sample]:
    """Yield samples of variants, each checked with a pack that lacks it: sandboxes are not primed
    with it, and only programs that other right answers share are cached."""
    for answer in answers:
        with tempfile.TemporaryDirectory(prefix="jaxtutor-pack-") as name:
            folder = Path(name)
            for part in ("lessons", "solutions"):
                shutil.copytree(pack.root.parent / part, folder / part)
            without = open_pack(folder / "lessons")
            (path,) = (p for p in without.variants(answer.lesson.id) if p.stem == answer.name)
            path.unlink()
            with desk(without) as made:
                alone = replace(answer, lesson=without.lesson(answer.lesson.id))
                for _ in range(repeats):
                    # Every sandbox is primed with the other answers only.
                    wait(made, alone.lesson)
                    yield Sample(alone, *judge(made.runner, alone.lesson, alone.code))
