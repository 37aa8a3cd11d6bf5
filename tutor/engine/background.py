"""One run at a time, in the background, and always of the newest code.

The app and `watch` hand every save to a `Runner` and hear what becomes of it. A new one stops the
run that is going on; of several that come meanwhile only the last is run.
"""

import threading
from collections.abc import Callable

from msgspec import Struct

from tutor.engine.session import Session
from tutor.engine.submission import Cancel, Sandboxes
from tutor.lesson import Lesson
from tutor.report import CheckResult, Fault, Report
from tutor.sandbox.process import Cancelled


class ReferenceNeeded(Struct, frozen=True):
    """PyTorch has to be asked: what it answers is not remembered yet."""

    number: int


class CheckFinished(Struct, frozen=True):
    """A check's result."""

    number: int
    result: CheckResult


class RunFinished(Struct, frozen=True):
    """The verdict; the run itself is over."""

    number: int
    report: Report


class RaceFinished(Struct, frozen=True):
    """The report again, with the race that follows a pass."""

    number: int
    report: Report


class RunStopped(Struct, frozen=True):
    """The run was stopped before there was a verdict."""

    number: int


RunEvent = ReferenceNeeded | CheckFinished | RunFinished | RaceFinished | RunStopped


Listener = Callable[[RunEvent], None]


class _Job(Struct):
    number: int
    listener: Listener
    lesson: Lesson
    code: str
    seed: int
    cancel: Cancel
    over: bool = False
    """Judged, or to be stopped."""

    def same(self, lesson: Lesson, code: str, seed: int) -> bool:
        """Whether this run tells what a run of these would tell."""
        mine = (self.lesson.id, self.code, self.seed)
        return not self.over and mine == (lesson.id, code, seed)


class Runner:
    """Use `run`, `stop`, and `close` at the end; none of them waits for a run, but `close`.

    **Arguments:** `sandboxes`: where they come from.
    """

    def __init__(self, sandboxes: Sandboxes | None = None) -> None:
        self._sandboxes = sandboxes
        self._change = threading.Condition()
        self._going_on: _Job | None = None
        self._next: _Job | None = None
        self._number = 0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="runner", daemon=True)
        self._thread.start()

    def run(self, lesson: Lesson, code: str, listener: Listener, seed: int = 0) -> int:
        """Check this code now.

        **Arguments:** `listener`: told what becomes of it, in another thread.

        **Returns:** the number of the run; that of the one going on, if it is of the same code.
        """
        with self._change:
            newest = self._next or self._going_on
            if newest is not None and newest.same(lesson, code, seed):
                return newest.number
            self._number += 1
            self._stop()
            self._next = _Job(self._number, listener, lesson, code, seed, Cancel())
            self._change.notify_all()
            return self._number

    def stop(self, number: int | None = None) -> None:
        """Stop whatever is going on, or only the run of this number."""
        with self._change:
            newest = self._next or self._going_on
            if number is not None and (newest is None or newest.number != number):
                return
            dropped = self._next
            self._stop()
        if dropped is not None:
            dropped.listener(RunStopped(dropped.number))

    def close(self) -> None:
        """Stop, and wait until nothing is left of it."""
        with self._change:
            self._closed = True
            self._stop()
            self._change.notify_all()
        self._thread.join()

    def _stop(self) -> None:
        self._next = None
        if self._going_on is not None:
            self._going_on.over = True
            # Killing waits for a lock at most as long as a process takes to start.
            threading.Thread(target=self._going_on.cancel.cancel, name="cancel").start()

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or self._next is not None)
                if self._next is None:
                    return
                job = self._going_on = self._next
                self._next = None
            try:
                self._check(job)
            finally:
                with self._change:
                    self._going_on = None

    def _check(self, job: _Job) -> None:
        number, listener = job.number, job.listener
        judged = False
        try:
            with Session(
                job.lesson, job.code, cancel=job.cancel, sandboxes=self._sandboxes
            ) as session:
                report = session.check(
                    job.seed,
                    lambda result: listener(CheckFinished(number, result)),
                    lambda: listener(ReferenceNeeded(number)),
                )
                judged = job.over = True
                listener(RunFinished(number, report))
                if report.passed:
                    listener(RaceFinished(number, session.add_race(report)))
        except Cancelled:
            if not judged:
                listener(RunStopped(number))
        except Exception as error:  # noqa: BLE001 - told as ours
            fault = Fault("internal", f"jaxtutor itself failed: {type(error).__name__}: {error}")
            listener(RunFinished(number, Report(job.lesson.id, "internal", (), fault=fault)))
