"""One run at a time, in the background, always of the newest code.

The app and `watch` hand every save to a `Runner` and receive its events. A new save stops the
current run; of several that arrive meanwhile, only the last is run.
"""

import logging
import threading
from collections.abc import Callable

from msgspec import Struct

from tutor.engine.session import Session
from tutor.engine.submission import Cancel, Sandboxes
from tutor.lesson import Lesson
from tutor.report import CheckResult, Fault, Report
from tutor.sandbox.process import Cancelled

_logger = logging.getLogger(__name__)


class ReferenceNeeded(Struct, frozen=True):
    """PyTorch's answers are not cached, so that the run takes longer."""

    number: int


class CheckFinished(Struct, frozen=True):
    """One check has its result."""

    number: int
    result: CheckResult


class TrainingProgressed(Struct, frozen=True):
    """A training of the check that runs has reached a step, counted from 0. The loss is None if it
    is NaN or infinite."""

    number: int
    step: int
    loss: float | None


class RunFinished(Struct, frozen=True):
    """The run is over; the report holds the verdict."""

    number: int
    report: Report


class RaceFinished(Struct, frozen=True):
    """The report again, now with the race that follows a pass."""

    number: int
    report: Report


class RunStopped(Struct, frozen=True):
    """The run was stopped before there was a verdict."""

    number: int


RunEvent = (
    ReferenceNeeded | TrainingProgressed | CheckFinished | RunFinished | RaceFinished | RunStopped
)


Listener = Callable[[RunEvent], None]


class _Job(Struct):
    number: int
    listener: Listener
    lesson: Lesson
    code: str
    seed: int
    cancel: Cancel
    over: bool = False
    """Finished, or being stopped."""

    def covers(self, lesson: Lesson, code: str, seed: int) -> bool:
        """Return whether this job's report will be that of a run with these arguments."""
        return not self.over and (self.lesson.id, self.code, self.seed) == (lesson.id, code, seed)


class Runner:
    """Runs checks in a background thread. Only `close` waits for a run to end.

    **Arguments:** `sandboxes`: where sandboxes come from.
    """

    def __init__(self, sandboxes: Sandboxes | None = None) -> None:
        self._sandboxes = sandboxes
        self._change = threading.Condition()
        self._current: _Job | None = None
        self._next: _Job | None = None
        self._number = 0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="runner", daemon=True)
        self._thread.start()

    def run(self, lesson: Lesson, code: str, listener: Listener, seed: int = 0) -> int:
        """Check this code now.

        **Arguments:** `listener` is called with the run's events, in another thread.

        **Returns:** the number of the run; the current one's, if that covers this code.
        """
        with self._change:
            newest = self._next or self._current
            if newest is not None and newest.covers(lesson, code, seed):
                return newest.number
            self._number += 1
            self._stop()
            self._next = _Job(self._number, listener, lesson, code, seed, Cancel())
            self._change.notify_all()
            return self._number

    def stop(self, number: int | None = None) -> None:
        """Stop the current run, or only the run of this number."""
        with self._change:
            newest = self._next or self._current
            if number is not None and (newest is None or newest.number != number):
                return
            dropped = self._next
            self._stop()
        if dropped is not None:
            dropped.listener(RunStopped(dropped.number))

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        with self._change:
            self._closed = True
            self._stop()
            self._change.notify_all()
        self._thread.join()

    def _stop(self) -> None:
        self._next = None
        if self._current is not None:
            self._current.over = True
            # In a thread: killing may wait for a lock while a process starts.
            threading.Thread(target=self._current.cancel.cancel, name="cancel").start()

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or self._next is not None)
                if self._next is None:
                    return
                job = self._current = self._next
                self._next = None
            try:
                self._check(job)
            finally:
                with self._change:
                    self._current = None

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
                    lambda at: listener(TrainingProgressed(number, at.step, at.loss)),
                )
                judged = job.over = True
                listener(RunFinished(number, report))
                if report.passed:
                    listener(RaceFinished(number, session.add_race(report)))
        except Cancelled:
            if not judged:
                listener(RunStopped(number))
        except Exception as error:
            _logger.error("internal error", exc_info=error)
            fault = Fault(
                "internal",
                f"internal error: {type(error).__name__}: {error}. "
                "This may be a bug in jaxtutor: run `jaxtutor doctor --report`",
            )
            listener(RunFinished(number, Report(job.lesson.id, "internal", (), fault=fault)))
