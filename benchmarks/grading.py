"""The throughput of grading: by jaxtutor, and by pytest, with one process per core.

Every batch has a new seed and empty caches, so PyTorch's answers have to be computed.
"""

import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks import cold
from benchmarks.answers import Answer, right_and_wrong
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
    """The verdicts on many submissions."""

    answers: Sequence[Answer]
    verdicts: Sequence[Grade]
    seconds: float

    @property
    def per_second(self) -> float:
        return len(self.answers) / self.seconds

    @property
    def misjudged(self) -> list[str]:
        """The answers that wrongly passed, or wrongly did not."""
        return [
            answer.label
            for answer, verdict in zip(self.answers, self.verdicts, strict=True)
            if (verdict == "pass") != ("pass" in answer.accepted)
        ]


def mixed(
    pack: Pack,
    number: int,
    seed: int = 0,
    names: Iterable[str] | None = None,
    right_ones: Callable[[Lesson], list[Answer]] | None = None,
) -> list[Answer]:
    """Return answers as from a class, spread evenly over the lessons and shuffled: two in three
    right, the others with known mistakes, not started, or not Python.

    **Arguments:** `names`: of lessons, by default all; `right_ones`: right answers to a lesson
    that take the place of the pack's variants.
    """
    chance = random.Random(seed)
    lessons = [pack.lesson(name) for name in (pack.lessons if names is None else names)]
    known = {lesson.id: right_and_wrong(pack, lesson, right_ones) for lesson in lessons}
    chosen: list[Answer] = []
    for count in range(number):
        right, wrong = known[lessons[count % len(lessons)].id]
        chosen.append(chance.choice(right if chance.random() < 2 / 3 else wrong))
    chance.shuffle(chosen)
    return chosen


class InMemorySubmissions(Struct, frozen=True):
    """A `SubmissionReader` of answers in memory: reading files is not measured."""

    answers: Sequence[Answer]

    @property
    def all(self) -> Sequence[Submission]:
        return [
            Submission(f"{number:06}", answer.lesson.id, f"{number}.py")
            for number, answer in enumerate(self.answers)
        ]

    def read(self, source: str) -> bytes:
        return self.answers[int(Path(source).stem)].code.encode()


def ours(pack: Pack, answers: Sequence[Answer], seed: int, jobs: int = WORKERS) -> Batch:
    """Grade as `jaxtutor grade` does, with full isolation. The time includes starting the zygote,
    running each lesson's solution, and writing the journal.

    **Arguments:** `pack`: must have the solutions; `jobs`: concurrent jobs.
    """
    lessons = {lesson.id: lesson for lesson in lessons_of(answers)}
    graded = msgspec.structs.replace(pack, lessons=lessons)
    folder = Path(tempfile.mkdtemp(prefix="jaxtutor-grading-"))
    verdicts: dict[str, Grade] = {}
    began = time.perf_counter()
    try:
        with (
            Journal(folder) as journal,
            Forks(folder) as forks,
            LocalExecutor(
                graded, jobs, forks=forks, reference_cache=folder / "references"
            ) as executor,
        ):

            def on_result(result: Result, known: bool) -> None:
                verdicts[result.submission] = result.verdict

            options = BatchOptions(tuple(lessons), seed)
            BatchRunner(
                graded, options, InMemorySubmissions(answers), journal, executor, on_result
            ).run()
        seconds = time.perf_counter() - began
        return Batch(answers, [verdicts[name] for name in sorted(verdicts)], seconds)
    finally:
        shutil.rmtree(folder)


def pytest(answers: Sequence[Answer], seed: int) -> Batch:
    """Grade with pytest, one process per submission, without isolation. The time does not include
    writing the files and PyTorch's answers."""
    with tempfile.TemporaryDirectory(prefix="jaxtutor-pytest-") as name:
        prepared = [cold.prepare(Path(name), answer, seed) for answer in answers]
        judge: Callable[[cold.Prepared], cold.Sample] = lambda one: cold.judge(one, "pytest")  # noqa: E731
        began = time.perf_counter()
        with ThreadPoolExecutor(WORKERS) as workers:
            samples = list(workers.map(judge, prepared))
        seconds = time.perf_counter() - began
    return Batch(answers, ["pass" if one.passed else "fail" for one in samples], seconds)


def lessons_of(answers: Sequence[Answer]) -> list[Lesson]:
    """Return the distinct lessons of these answers."""
    return list({answer.lesson.id: answer.lesson for answer in answers}.values())
