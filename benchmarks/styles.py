"""From a save to the verdict on right answers in styles that nobody has tuned to.

    python -m benchmarks.styles [LESSON …]

For each answer (`benchmarks.held_out`), with a new `JAXTUTOR_HOME` that has nothing of a learner's:
its lesson is opened as in the app, and once all sandboxes are ready,

- the answer is run for the first time;
- one line of it is edited, and it is run again, once all is ready again. Now the app has what the
  first run compiled;
- for some of the answers: a second edit is run ahead, as in a pause from typing, and asked about
  when that has finished.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from benchmarks import warm
from benchmarks.held_out import HeldOut, held_out, names
from benchmarks.processes import processor_seconds, wait_until_idle
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.storage import paths
from tutor.ui.desk import Desk

TRAINING_KINDS = frozenset({"train", "learns", "train_step"})
SLOW_SECONDS = 2.0
"""A lesson whose own solution takes longer is reported with those that train."""

IDLE_PATIENCE = 60.0
"""Timeout in seconds for processes to be idle."""

OF_THE_PACK = ("programs", "references")
"""Directories of the cache with nothing of a learner's: the pack's compiled programs, and PyTorch's
answers."""


class Pause(Struct, frozen=True):
    """Processor seconds that running ahead in one pause costs: the run itself; and preparing the
    sandbox that replaces the one it used."""

    running: float
    replacing: float

    @property
    def together(self) -> float:
        return self.running + self.replacing


class Style(Struct, frozen=True):
    """Seconds to the verdict on one answer: the first time; after an edit; after it was run ahead,
    if that was measured, with what that cost. `solution`: seconds of the lesson's own solution, if
    the answer is slow."""

    lesson: str
    name: str
    trains: bool
    first: float
    edited: float
    ahead: float | None = None
    pause: Pause | None = None
    solution: float | None = None

    @property
    def training(self) -> bool:
        """Whether to report the lesson apart: its checks train, or take long in any case."""
        return self.trains or (self.solution is not None and self.solution > SLOW_SECONDS)


class Found(Struct):
    """Everything found so far. `wrong`: answers that did not pass, and what failed."""

    styles: list[Style] = []
    wrong: list[str] = []


def measure(pack: Pack, lessons: Sequence[str], ahead_every: int) -> Found:
    """Measure the answers of these lessons.

    **Arguments:** `ahead_every`: one in so many lessons is measured with running ahead.
    """
    found = Found()
    for number, name in enumerate(lessons):
        print(f"unknown styles: {name}", file=sys.stderr, flush=True)
        lesson = pack.lesson(name)
        try:
            with _opened(pack, lesson) as desk:
                found.styles.append(_measured(desk, lesson, ahead=number % ahead_every == 0))
        except (Unexpected, TimeoutError) as error:
            found.wrong.append(f"unknown style: {name}: {error}")
    return found


class Unexpected(Exception):
    """An answer did not pass."""


@contextmanager
def _opened(pack: Pack, lesson: Lesson) -> Iterator[Desk]:
    """Open a lesson in a new home. What that caches of the pack's is kept for other benchmarks."""
    cache, outer = paths.cache(), os.environ.get("JAXTUTOR_HOME")
    # The next lesson is not prepared, too: it comes after this one, so that it changes nothing.
    alone = replace(pack, lessons={lesson.id: lesson})
    with tempfile.TemporaryDirectory(prefix="jaxtutor-style-") as home:
        os.environ["JAXTUTOR_HOME"] = home
        try:
            with warm.desk(alone) as desk:
                yield desk
        finally:
            if outer is None:
                del os.environ["JAXTUTOR_HOME"]
            else:
                os.environ["JAXTUTOR_HOME"] = outer
        for name in OF_THE_PACK:
            with suppress(FileNotFoundError):
                shutil.copytree(Path(home) / "cache" / name, cache / name, dirs_exist_ok=True)


def _measured(desk: Desk, lesson: Lesson, *, ahead: bool) -> Style:
    """Raises `Unexpected`."""
    answer = held_out(lesson.id)
    first = _run(desk, lesson, answer.code)
    edited = _run(desk, lesson, answer.edited)
    after, pause = _run_ahead(desk, lesson, answer) if ahead else (None, None)
    trains = not TRAINING_KINDS.isdisjoint(check.kind for check in lesson.checks)
    solution = None
    if not trains and first > SLOW_SECONDS:
        solution = _run(desk, lesson, desk.pack.solution(lesson.id) or "")
    return Style(lesson.id, answer.name, trains, first, edited, after, pause, solution)


def _run(desk: Desk, lesson: Lesson, code: str) -> float:
    """Return the seconds to the verdict, once all sandboxes are ready, and nothing else goes on."""
    _wait(desk, lesson)
    seconds, report = warm.judge(desk.runner, lesson, code)
    if not report.passed:
        raise Unexpected(report.verdict)
    return seconds


def _run_ahead(desk: Desk, lesson: Lesson, answer: HeldOut) -> tuple[float, Pause]:
    """Run the second edit ahead until that has finished and its sandboxes are replaced, then ask.

    **Returns:** the seconds to the verdict, and what running ahead cost.
    """
    _wait(desk, lesson)
    began = processor_seconds(os.getpid())
    edited_again = f"{answer.edited}# Edited again.\n"
    warm.run_ahead(desk, lesson, edited_again)
    ran = processor_seconds(os.getpid())
    _wait(desk, lesson)
    replaced = processor_seconds(os.getpid())
    return _run(desk, lesson, edited_again), Pause(ran - began, replaced - ran)


def _wait(desk: Desk, lesson: Lesson) -> None:
    warm.wait(desk, lesson)
    wait_until_idle(os.getpid(), IDLE_PATIENCE)


def _show(found: Found) -> Iterator[str]:
    for one in found.styles:
        text = f"{one.lesson}/{one.name}: {one.first * 1e3:.0f} ms, {one.edited * 1e3:.0f} ms after"
        text += " an edit"
        if one.ahead is not None and one.pause is not None:
            text += (
                f", {one.ahead * 1e3:.1f} ms with running ahead, which costs "
                f"{one.pause.running:.2f} and {one.pause.replacing:.2f} s of processor time"
            )
        yield text
    yield from found.wrong


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.styles")
    parser.add_argument("lessons", nargs="*", metavar="LESSON")
    options = parser.parse_args()
    for line in _show(measure(open_pack(), options.lessons or names(), 1)):
        print(line)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
