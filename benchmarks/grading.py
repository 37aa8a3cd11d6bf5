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

from msgspec import Struct

from benchmarks import cold
from benchmarks.answers import Answer, handed_in
from tutor.engine import Session
from tutor.forks import Forks
from tutor.lesson import Lesson, Pack
from tutor.report import Verdict

WORKERS = os.cpu_count() or 1


class Batch(Struct, frozen=True):
    """What became of many submissions."""

    answers: Sequence[Answer]
    verdicts: Sequence[Verdict]
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


def ours(pack: Pack, answers: Sequence[Answer], seed: int) -> Batch:
    """Judged by jaxtutor with full isolation: the zygote's start is part of it, and running each
    lesson's solution once.

    **Arguments:** `pack`: the one with the solutions.
    """
    solutions = {lesson.id: pack.solution(lesson.id) or "" for lesson in lessons_of(answers)}
    folder = Path(tempfile.mkdtemp(prefix="jaxtutor-grading-"))
    began = time.perf_counter()
    try:
        with Forks(folder) as forks, ThreadPoolExecutor(WORKERS) as workers:

            def learn(lesson: Lesson) -> None:
                forks.learn(lesson, solutions[lesson.id], seed)

            def verdict(answer: Answer) -> Verdict:
                with Session(
                    answer.lesson, answer.code, memory=folder / "references", sandboxes=forks
                ) as session:
                    return session.check(seed).verdict

            list(workers.map(learn, lessons_of(answers)))
            verdicts = list(workers.map(verdict, answers))
        return Batch(answers, verdicts, time.perf_counter() - began)
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
