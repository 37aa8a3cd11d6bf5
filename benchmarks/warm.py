"""From a save to the verdict, as the lesson screen has it: a sandbox is waiting, and is handed the
code.

What is timed begins where the screen calls `runner.run` and ends at `RunFinished`. The
race against PyTorch that would follow a pass is stopped: nobody waits for it. `benchmarks.screen`
adds what the screen itself takes.
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
"""Seconds after which a sandbox that is not ready, or a verdict that does not come, is given up."""


class Sample(Struct, frozen=True):
    """One run: of which answer, the seconds until its verdict, and the report."""

    answer: Answer
    seconds: float
    report: Report

    @property
    def judged_right(self) -> bool:
        return self.report.verdict in self.answer.deserves


@contextmanager
def desk(pack: Pack) -> Iterator[Desk]:
    """A desk of somebody who has not learned anything yet."""
    with tempfile.TemporaryDirectory(prefix="jaxtutor-desk-") as name:
        folder = Path(name)
        with Desk(pack, Workspace(pack, folder / "work"), Progress(folder / "db")) as made:
            yield made


def wait(desk: Desk, lesson: Lesson) -> None:
    """Open a lesson, and wait until all that it needs is ready, and that of the next one too: what
    follows is not to share the processor with it.

    Raises:
        TimeoutError: it is never ready.
    """
    desk.looks_at(lesson)
    desk.expect(lesson)
    assert desk.pool is not None
    following = desk.pack.next_after(lesson.id)
    wait_for(
        desk.pool, lesson, *([desk.pack.lesson(following)] if following is not None else [])
    )  # fmt: skip


def wait_for(pool: Pool, *lessons: Lesson) -> None:
    """Wait until all that lessons need is ready.

    Raises:
        TimeoutError: it is never ready.
    """
    for lesson in lessons:
        if not pool.ready(lesson, PATIENCE):
            raise TimeoutError(f"no sandbox is ready for {lesson.id}")


def judge(runner: Runner, lesson: Lesson, code: str) -> tuple[float, Report]:
    """Have code checked.

    **Returns:** the seconds until the verdict, and the report.

    Raises:
        queue.Empty: there is no verdict.
    """
    news: queue.SimpleQueue[tuple[float, RunEvent]] = queue.SimpleQueue()

    def hear(one: RunEvent) -> None:
        if isinstance(one, RunFinished | RunStopped):
            news.put((time.perf_counter(), one))

    began = time.perf_counter()
    number = runner.run(lesson, code, hear)
    ended, told = news.get(timeout=PATIENCE)
    runner.stop(number)
    assert isinstance(told, RunFinished), "somebody else has stopped it"
    return ended - began, told.report


def measure(desk: Desk, answers: Iterable[Answer], repeats: int) -> Iterator[Sample]:
    """Every answer so many times, by turns, each time in a sandbox of its own that was ready.

    Before that one run that is not counted, in which PyTorch may have to be asked and programs
    are compiled for the first time.
    """
    answers = list(answers)
    for turn in range(repeats + 1):
        for answer in answers if turn else answers[:1]:
            wait(desk, answer.lesson)
            seconds, report = judge(desk.runner, answer.lesson, answer.code)
            if turn:
                yield Sample(answer, seconds, report)


def unseen(pack: Pack, answers: Iterable[Answer], repeats: int) -> Iterator[Sample]:
    """Variants, each as one of a pack that does not have it: nothing that waits has been primed
    with it, and of its programs only those are known which other right answers have as well."""
    for answer in answers:
        with tempfile.TemporaryDirectory(prefix="jaxtutor-pack-") as name:
            folder = Path(name)
            for part in ("lessons", "solutions"):
                shutil.copytree(pack.root.parent / part, folder / part)
            held = open_pack(folder / "lessons")
            (path,) = (p for p in held.variants(answer.lesson.id) if p.stem == answer.name)
            path.unlink()
            with desk(held) as made:
                alone = replace(answer, lesson=held.lesson(answer.lesson.id))
                for _ in range(repeats):
                    # The sandbox that follows has been primed with the others only, as this one.
                    wait(made, alone.lesson)
                    yield Sample(alone, *judge(made.runner, alone.lesson, alone.code))
