"""How the time to a verdict and the throughput of grading depend on the numbers of checks, lessons
and submissions.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from benchmarks import grading, warm
from benchmarks.answers import CLASS, Answer, right
from benchmarks.packs import make_pack
from tutor.engine.background import Runner
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.pool.pool import Pool

LESSON = "vmap-basics"
TIMES = (1, 2, 4, 8)
"""How many times a lesson's checks are repeated."""

SIZES = (50, 500, 5_000)
"""Lessons in a pack."""

BATCH = 8
"""Submissions graded if their number is not what varies."""


class Point(Struct, frozen=True):
    """A measurement `of` something with `size` many `what`. `samples`: seconds to the verdict, or
    submissions per second."""

    what: Literal["checks", "lessons", "submissions"]
    of: Literal["verdict", "grading"]
    size: int
    samples: list[float]


def with_checks(lesson: Lesson, times: int) -> Lesson:
    """Return the lesson with its checks repeated, each time with different inputs."""
    checks = [
        replace(
            check, name=f"{check.title} ({turn})",
            after=tuple(f"{name} ({turn})" for name in check.prerequisites),
        )
        for turn in range(times)
        for check in lesson.checks
    ]  # fmt: skip
    limits = replace(lesson.limits, seconds=lesson.limits.seconds * times)
    return replace(lesson, checks=tuple(checks), limits=limits, timed="")


def checks(pack: Pack, repeats: int, times: Sequence[int] = TIMES) -> Iterator[Point]:
    """Measure one lesson with an increasing number of checks."""
    original = pack.lesson(LESSON)
    solution = right(pack, original)[0]
    for count in times:
        lesson = with_checks(original, count)
        size = len(lesson.checks)
        with Pool() as pool:
            runner = Runner(pool)
            seconds = []
            for turn in range(repeats + 1):
                pool.expect([(lesson, [solution.code])])
                warm.wait_for(pool, lesson)
                taken, report = warm.judge(runner, lesson, solution.code)
                assert report.passed, report
                if turn:
                    seconds.append(taken)
            runner.close()
        yield Point("checks", "verdict", size, seconds)
        yield Point("checks", "grading", size, _graded(pack, [replace(solution, lesson=lesson)]))


def lessons(solution: Answer, repeats: int, sizes: Sequence[int] = SIZES) -> Iterator[Point]:
    """Measure one lesson in packs of increasing size. Generated packs have no solutions, so waiting
    sandboxes are primed with the starter.

    **Arguments:** `solution`: of `LESSON`, which all lessons are copies of.
    """
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="jaxtutor-pack-") as name:
            folder = Path(name)
            pack = open_pack(make_pack(folder / "pack", size))
            lesson = pack.lesson(next(iter(pack.lessons)))
            answer = replace(solution, lesson=lesson)
            with warm.desk(pack) as desk:
                samples = list(warm.measure(desk, [answer], repeats))
            assert all(sample.correct for sample in samples)
            yield Point("lessons", "verdict", size, [sample.seconds for sample in samples])
            yield Point("lessons", "grading", size, _graded(pack, [answer]))


def submissions(pack: Pack, sizes: Sequence[int]) -> Iterator[Point]:
    """Measure batches of increasing size."""
    for size in sizes:
        batch = grading.ours(pack, grading.mixed(pack, size, names=CLASS), seed=size)
        yield Point("submissions", "grading", size, [batch.per_second])


def _graded(pack: Pack, answers: Sequence[Answer]) -> list[float]:
    batch = grading.ours(pack, [*answers] * BATCH, seed=BATCH)
    assert not batch.misjudged, batch.misjudged
    return [batch.per_second]
