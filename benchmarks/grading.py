"""Many submissions, as fast as they can be judged: by jaxtutor, and as files for pytest, as many at
a time as there are cores.

Every batch has a hidden seed of its own that nobody has seen, so PyTorch has to be asked; and
nothing is remembered from an earlier one.
"""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import cold
from benchmarks.answers import Answer, handed_in
from tutor.grading.batch import BatchOptions, BatchRunner
from tutor.grading.executors import LocalExecutor
from tutor.grading.journal import Journal
from tutor.grading.matching import Submission
from tutor.grading.result import Grade, Result
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks

WORKERS = os.cpu_count() or 1


class Batch(Struct, frozen=True):
    """What became of many submissions."""

    answers: Sequence[Answer]
    verdicts: Sequence[Grade]
    seconds: float

    @property
    def per_second(self) -> float:
        return len(self.answers) / self.seconds

    @property
    def misjudged(self) -> list[str]:
        """Whose verdict is not the one that they were written for: a pass, or none."""
        return [
            answer.label
            for answer, verdict in zip(self.answers, self.verdicts, strict=True)
            if (verdict == "pass") != ("pass" in answer.deserves)
        ]


def mixed(pack: Pack, number: int, seed: int = 0) -> list[Answer]:
    """A class of which two in three are right, the rest mistaken as people are, not begun, or no
    Python: of all lessons equally many, in no order."""
    chance = random.Random(seed)
    lessons = [pack.lesson(name) for name in pack.lessons]
    known = {lesson.id: handed_in(pack, lesson) for lesson in lessons}
    chosen: list[Answer] = []
    for count in range(number):
        right, wrong = known[lessons[count % len(lessons)].id]
        chosen.append(chance.choice(right if chance.random() < 2 / 3 else wrong))
    chance.shuffle(chosen)
    return chosen


class Handed(Struct, frozen=True):
    """Answers as submissions. In memory, for reading files is not what is measured."""

    answers: Sequence[Answer]

    @property
    def all(self) -> Sequence[Submission]:
        return [
            Submission(f"{place:06}", answer.lesson.id, f"{place}.py")
            for place, answer in enumerate(self.answers)
        ]

    def read(self, source: str) -> bytes:
        return self.answers[int(Path(source).stem)].code.encode()


def ours(pack: Pack, answers: Sequence[Answer], seed: int, jobs: int = WORKERS) -> Batch:
    """Judged as `jaxtutor grade` does it, with full isolation: the zygote's start is part
    of it, running each lesson's solution, and the journal.

    **Arguments:** `pack`: the one with the solutions; `jobs`: at a time.
    """
    lessons = {lesson.id: lesson for lesson in lessons_of(answers)}
    asked = msgspec.structs.replace(pack, lessons=lessons)
    folder = Path(tempfile.mkdtemp(prefix="jaxtutor-grading-"))
    verdicts: dict[str, Grade] = {}
    began = time.perf_counter()
    try:
        with (
            Journal(folder) as journal,
            Forks(folder) as forks,
            LocalExecutor(asked, jobs, forks=forks, memory=folder / "references") as executor,
        ):

            def on_result(result: Result, known: bool) -> None:
                verdicts[result.submission] = result.verdict

            order = BatchOptions(tuple(lessons), seed)
            BatchRunner(asked, order, Handed(answers), journal, executor, on_result).run()
        seconds = time.perf_counter() - began
        return Batch(answers, [verdicts[name] for name in sorted(verdicts)], seconds)
    finally:
        shutil.rmtree(folder)


def pytest(answers: Sequence[Answer], seed: int) -> Batch:
    """Judged by pytest, one process for each, without any isolation. Writing the files, PyTorch's
    answers in them, is not part of it."""
    with tempfile.TemporaryDirectory(prefix="jaxtutor-pytest-") as name:
        prepared = [cold.prepare(Path(name), answer, seed) for answer in answers]
        judge: Callable[[cold.Prepared], cold.Sample] = lambda one: cold.judge(one, "pytest")  # noqa: E731
        began = time.perf_counter()
        with ThreadPoolExecutor(WORKERS) as workers:
            samples = list(workers.map(judge, prepared))
        seconds = time.perf_counter() - began
    return Batch(answers, ["pass" if one.passed else "fail" for one in samples], seconds)


def lessons_of(answers: Sequence[Answer]) -> list[Lesson]:
    """The lessons that submissions are of, each once."""
    return list({answer.lesson.id: answer.lesson for answer in answers}.values())
