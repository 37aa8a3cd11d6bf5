"""From a save to the verdict on right answers in styles that nobody has tuned to.

    python -m benchmarks.styles [--turn N] [--answers N] LESSON…

For each answer (`benchmarks.held_out`), with a new `JAXTUTOR_HOME` that has nothing of a learner's:
its lesson is opened as in the app, and once all sandboxes are ready,

- the answer is run for the first time;
- one line of it is edited, and it is run again, once all is ready again. Now the app has what the
  first run compiled, and has primed the sandbox with that code;
- for some of the answers: a second edit is run ahead, as in a pause from typing, and asked about
  when that has finished.

A process per core prepares lessons independently, since preparing takes most of the time. While one
of them is measured, the others are stopped, so that it has the machine to itself.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from benchmarks import warm
from benchmarks.held_out import held_out
from benchmarks.processes import processor_seconds, stopped, wait_until_idle
from benchmarks.turns import part, shuffled, turn_of_today
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.pool.capacity import CORES, free_memory_mb
from tutor.ui.desk import Desk

ANSWERS = 5
"""Answers per lesson."""

TRAINING_KINDS = frozenset({"train", "learns", "train_step"})
SLOW_SECONDS = 2.0
"""A lesson whose own solution takes longer is reported with those that train."""

SLOT_MB = 2000
"""Memory that should be free for each process that prepares lessons."""

IDLE_PATIENCE = 60.0
"""Timeout in seconds for processes to be idle."""

OF_THE_PACK = ("programs", "references")
"""Directories of the cache with nothing of a learner's: the pack's compiled programs, and PyTorch's
answers."""

Action = Literal[
    "open", "first", "wait", "edited", "solution", "ahead", "replaced", "asked", "close"
]


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


class Job(Struct, frozen=True):
    """An answer to measure. `ahead`: whether with running ahead."""

    lesson: str
    number: int
    ahead: bool


class Found(Struct):
    """Everything found so far. `wrong`: answers that did not pass, and what failed."""

    styles: list[Style] = []
    wrong: list[str] = []


def jobs(names: Sequence[str], turn: int, answers: int, ahead_every: int) -> list[Job]:
    """Return what to measure, in this turn's order.

    **Arguments:** `answers`: how many per lesson; `ahead_every`: one in so many lessons is measured
    with running ahead.
    """
    ahead = set(part(names, turn, ahead_every))
    return [
        Job(name, (turn + count) % ANSWERS, name in ahead)
        for count in range(answers)
        for name in shuffled(names, turn)
    ]


def measure(pack: Pack, wanted: Sequence[Job], seconds: float, cache: Path) -> Found:
    """Measure answers until all are measured or the time is over.

    **Arguments:** `seconds`: no answer is begun after so many; `cache`: what opening the lessons
    cached of the pack's is added to this directory.
    """
    found, left, end = Found(), [*wanted], time.monotonic() + seconds
    lock, measuring = threading.Lock(), threading.Lock()
    running: list[_Worker] = []

    def work(worker: _Worker) -> None:
        while time.monotonic() < end and worker.alive:
            with lock:
                if not left:
                    return
                job = left.pop(0)
            print(f"unknown styles: {job.lesson}, {len(left)} left", file=sys.stderr, flush=True)
            try:
                style = _measured(worker, pack.lesson(job.lesson), job)
            except Unexpected as error:
                with lock:
                    found.wrong.append(f"unknown style: {job.lesson}/{job.number}: {error}")
            else:
                with lock:
                    found.styles.append(style)
            finally:
                worker.close_lesson()

    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="jaxtutor-styles-") as name:
        width = max(1, min(CORES, free_memory_mb() // SLOT_MB, len(wanted)))
        for _ in range(width):
            running.append(stack.enter_context(_Worker(Path(name), running, measuring)))
        with ThreadPoolExecutor(width) as threads:
            list(threads.map(work, running))
        for opened in (Path(name) / "opened").glob("*"):
            shutil.copytree(opened, cache, dirs_exist_ok=True)
    order = [*pack.lessons]
    found.styles.sort(key=lambda style: (order.index(style.lesson), style.name))
    return found


class Unexpected(Exception):
    """An answer did not pass, or could not be measured."""


def _measured(worker: "_Worker", lesson: Lesson, job: Job) -> Style:
    """Raises `Unexpected`."""
    worker.ask("open", job)
    first = worker.measure("first")
    worker.ask("wait")
    edited = worker.measure("edited")
    ahead, pause, solution = None, None, None
    if job.ahead:
        worker.ask("wait")
        pause = Pause(worker.ask("ahead").seconds, worker.ask("replaced").seconds)
        ahead = worker.measure("asked")
    trains = not TRAINING_KINDS.isdisjoint(check.kind for check in lesson.checks)
    if not trains and first > SLOW_SECONDS:
        worker.ask("wait")
        solution = worker.measure("solution")
    name = held_out(lesson)[job.number].name
    return Style(lesson.id, name, trains, first, edited, ahead, pause, solution)


class _Request(Struct):
    action: Action
    lesson: str = ""
    number: int = 0


class _Reply(Struct):
    """`seconds`: to the verdict, or of processor time; `problem`: what is not as expected."""

    seconds: float = 0.0
    problem: str = ""


class _Worker:
    """A process that opens a lesson at a time and runs answers.

    **Arguments:** `folder`: for homes, and for what lessons cached when they were opened first;
    `running`: all workers; `measuring`: held while one of them is measured.
    """

    def __init__(self, folder: Path, running: "list[_Worker]", measuring: threading.Lock) -> None:
        self._running = running
        self._measuring = measuring
        self.alive = True
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.styles", "--in", str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def ask(self, action: Action, job: Job | None = None) -> _Reply:
        """Let the process do something.

        Raises:
            Unexpected: it could not.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        request = _Request(action, job.lesson, job.number) if job is not None else _Request(action)
        try:
            stdin.write(msgspec.json.encode(request) + b"\n")
            stdin.flush()
        except OSError as error:
            raise Unexpected(f"{action}: {error}") from None
        if not (line := stdout.readline()):
            self.alive = False
            raise Unexpected(f"{action}: the process has ended")
        reply = msgspec.json.decode(line, type=_Reply)
        if reply.problem:
            raise Unexpected(f"{action}: {reply.problem}")
        return reply

    def close_lesson(self) -> None:
        """Close the lesson, if it was opened."""
        with suppress(Unexpected):
            self.ask("close")

    def measure(self, action: Action) -> float:
        """Return the seconds of a run, during which no other worker computes.

        Raises:
            Unexpected: the answer does not pass.
        """
        with self._measuring:
            others = [worker._process.pid for worker in self._running if worker is not self]
            with stopped(others):
                return self.ask(action).seconds


# --- in the new process -----------------------------------------------------------------------


class _Opened:
    """A lesson on the desk, and one of its answers. `end` closes it."""

    def __init__(self, pack: Pack, folder: Path, request: _Request) -> None:
        self.lesson = pack.lesson(request.lesson)
        self.answer = held_out(self.lesson)[request.number]
        self.solution = pack.solution(self.lesson.id)
        self._stack = ExitStack()
        try:
            self._open(pack, folder / "opened" / self.lesson.id, folder)
        except BaseException:
            self.end()
            raise

    def _open(self, pack: Pack, opened: Path, folder: Path) -> None:
        home = self._stack.enter_context(tempfile.TemporaryDirectory(dir=folder))
        os.environ["JAXTUTOR_HOME"] = home
        cached = Path(home) / "cache"
        if opened.exists():
            shutil.copytree(opened, cached, dirs_exist_ok=True)
        # The next lesson is not prepared, too: it comes after this one, so that it changes nothing.
        alone = replace(pack, lessons={self.lesson.id: self.lesson})
        self.desk: Desk = self._stack.enter_context(warm.desk(alone))
        self.wait()
        if not opened.exists():
            found = Path(home) / "opened"
            for name in OF_THE_PACK:
                if (cached / name).exists():
                    shutil.copytree(cached / name, found / name)
            opened.parent.mkdir(exist_ok=True)
            with suppress(OSError):  # another process was faster
                found.rename(opened)

    def end(self) -> None:
        self._stack.close()

    def wait(self) -> None:
        """Wait until all sandboxes are ready, and nothing else goes on."""
        warm.wait(self.desk, self.lesson)
        wait_until_idle(os.getpid(), IDLE_PATIENCE)

    def run(self, code: str) -> _Reply:
        seconds, report = warm.judge(self.desk.runner, self.lesson, code)
        return _Reply(seconds, "" if report.passed else report.verdict)

    def run_ahead(self) -> _Reply:
        """Run the second edit ahead until that has finished; return its processor seconds."""
        before = processor_seconds(os.getpid())
        warm.run_ahead(self.desk, self.lesson, self.answer.edited_again)
        return _Reply(processor_seconds(os.getpid()) - before)

    def replace(self) -> _Reply:
        """Wait until the sandboxes that a run has used are replaced; return the processor seconds
        since the call."""
        before = processor_seconds(os.getpid())
        self.wait()
        return _Reply(processor_seconds(os.getpid()) - before)


def _serve(folder: Path) -> None:
    """Answer requests until there are no more."""
    pack = open_pack()
    opened: _Opened | None = None
    for line in sys.stdin.buffer:
        request = msgspec.json.decode(line, type=_Request)
        try:
            if request.action == "open":
                opened = _Opened(pack, folder, request)
                reply = _Reply()
            elif opened is None:
                reply = _Reply()  # it could not be opened
            elif request.action == "close":
                opened.end()
                opened, reply = None, _Reply()
            else:
                reply = _do(opened, request.action)
        except Exception as error:  # noqa: BLE001 - the other answers can still be measured
            reply = _Reply(problem=f"{type(error).__name__}: {error}")
        sys.stdout.buffer.write(msgspec.json.encode(reply) + b"\n")
        sys.stdout.buffer.flush()
    if opened is not None:
        opened.end()


def _do(opened: _Opened, action: Action) -> _Reply:
    match action:
        case "first":
            return opened.run(opened.answer.code)
        case "edited":
            return opened.run(opened.answer.edited)
        case "solution":
            return opened.run(opened.solution or "")
        case "ahead":
            return opened.run_ahead()
        case "asked":
            return opened.run(opened.answer.edited_again)
        case "replaced":
            return opened.replace()
        case _:
            opened.wait()
            return _Reply()


def _show(found: Found) -> Iterator[str]:
    for one in found.styles:
        text = f"{one.lesson}/{one.name}: {one.first * 1e3:.0f} ms, {one.edited * 1e3:.0f} ms after"
        if one.ahead is not None and one.pause is not None:
            text += (
                f" an edit, {one.ahead * 1e3:.1f} ms with running ahead, which costs "
                f"{one.pause.running:.2f} and {one.pause.replacing:.2f} s of processor time"
            )
        else:
            text += " an edit"
        yield text
    yield from found.wrong


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.styles")
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--turn", type=int, default=turn_of_today(), metavar="N")
    parser.add_argument("--answers", type=int, default=1, metavar="N", help="per lesson; default 1")
    parser.add_argument("lessons", nargs="*", metavar="LESSON")
    options = parser.parse_args()
    if options.folder is not None:
        _serve(options.folder)
        return
    pack = open_pack()
    wanted = jobs(options.lessons or [*pack.lessons], options.turn, options.answers, 1)
    with tempfile.TemporaryDirectory() as cache:
        for line in _show(measure(pack, wanted, float("inf"), Path(cache))):
            print(line)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
