"""One run at a time, in the background, always of the newest code.

The app and `watch` hand every save to a `Runner` and receive its events. A new save stops the
current run; of several that arrive meanwhile, only the last is run. Code that is likely to be asked
about can be run ahead: a `run` of it then reports at once what is known.
"""

import logging
import threading
from collections.abc import Callable

from msgspec import Struct

from tutor.engine.sandboxes import Cancel, Sandboxes
from tutor.engine.session import Session
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
    listener: Listener | None
    """None as long as nobody has asked for this run."""
    lesson: Lesson
    code: str
    seed: int
    cancel: Cancel
    over: bool = False
    """Finished, or being stopped."""
    events: list[RunEvent] = []
    """The events before anybody asked."""
    race_of: Report | None = None
    """The verdict is known; only the race is left."""
    reporting: bool = False
    """`on_report` is using the sandboxes."""
    stop_later: bool = False
    """To be stopped when `on_report` has ended."""

    def covers(self, lesson: Lesson, code: str, seed: int) -> bool:
        """Return whether this job's report is, or will be, that of a run with these arguments."""
        # The lesson as a whole: its author may have edited it meanwhile.
        same = self.lesson is lesson or self.lesson == lesson
        return same and (self.code, self.seed) == (code, seed)


class Runner:
    """Runs checks in a background thread. Only `close` waits for a run to end.

    **Arguments:** `sandboxes`: where sandboxes come from; `on_report`: called after each
    verdict, before the run's sandboxes are released, in the thread that uses them.
    """

    def __init__(
        self,
        sandboxes: Sandboxes | None = None,
        on_report: Callable[[Lesson], None] = lambda lesson: None,
    ) -> None:
        self._sandboxes = sandboxes
        self._on_report = on_report
        self._change = threading.Condition()
        self._current: _Job | None = None
        self._next: _Job | None = None
        self._ahead: _Job | None = None
        """The last run that nobody asked for, if it has finished."""
        self._number = 0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="runner", daemon=True)
        self._thread.start()

    def run(self, lesson: Lesson, code: str, listener: Listener, seed: int = 0) -> int:
        """Check this code now, or report what a run ahead has found.

        **Arguments:** `listener` is called with the run's events, in another thread; with those of
        a run ahead, also in this one, before this returns.

        **Returns:** the number of the run; the current one's, if that covers this code.
        """
        with self._change:
            newest = self._newest()
            if newest is not None and newest.covers(lesson, code, seed):
                if newest.listener is None:
                    self._adopt(newest, listener)
                return newest.number
            done, self._ahead = self._ahead, None
            if done is not None and done.covers(lesson, code, seed):
                return self._deliver(done, listener)
            return self._begin(_Job(0, listener, lesson, code, seed, Cancel()))

    def run_ahead(self, lesson: Lesson, code: str, seed: int = 0) -> bool:
        """Check this code in case somebody asks. Any `run` of other code stops it.

        **Returns:** whether its verdict is known, or this run has begun; not while another goes on
        that somebody asked for.
        """
        with self._change:
            newest = self._next or self._current
            if newest is not None and newest.listener is not None:
                return False
            for known in (self._newest(), self._ahead):
                if known is not None and known.covers(lesson, code, seed):
                    return True
            if self._sandboxes is None:
                return False
            self._ahead = None
            self._begin(_Job(0, None, lesson, code, seed, Cancel()))
            return True

    def forget_ahead(self) -> None:
        """Stop a run that nobody has asked for, and forget its verdict."""
        with self._change:
            self._ahead = None
            newest = self._next or self._current
            if newest is not None and newest.listener is None:
                self._stop()

    def stop(self, number: int | None = None) -> None:
        """Stop the current run, or only the run of this number."""
        with self._change:
            newest = self._next or self._current
            if number is not None and (newest is None or newest.number != number):
                return
            dropped = self._next
            self._stop()
        if dropped is not None and dropped.listener is not None:
            dropped.listener(RunStopped(dropped.number))

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        with self._change:
            self._closed = True
            self._stop(at_once=True)
            self._change.notify_all()
        self._thread.join()

    def _newest(self) -> _Job | None:
        """Return the job whose verdict is awaited, if any. Call with the lock held."""
        newest = self._next or self._current
        return None if newest is None or newest.over else newest

    def _begin(self, job: _Job) -> int:
        """Run this job next, in place of the others. Call with the lock held."""
        self._number += 1
        job.number = self._number
        self._stop()
        self._next = job
        self._change.notify_all()
        return job.number

    def _adopt(self, job: _Job, listener: Listener) -> None:
        """Report a run ahead to a listener from now on. Call with the lock held."""
        job.listener = listener
        for event in job.events:
            listener(event)

    def _deliver(self, done: _Job, listener: Listener) -> int:
        """Report what a run ahead has found, and let the race follow. Call with the lock held."""
        self._stop()
        self._adopt(done, listener)
        last = done.events[-1]
        if isinstance(last, RunFinished) and last.report.passed:
            race = _Job(done.number, listener, done.lesson, done.code, done.seed, Cancel())
            race.over, race.race_of = True, last.report
            self._next = race
            self._change.notify_all()
        return done.number

    def _emit(self, job: _Job, event: RunEvent) -> None:
        with self._change:
            if job.listener is None:
                job.events.append(event)
                return
        job.listener(event)

    def _stop(self, *, at_once: bool = False) -> None:
        """Drop the next job and end the current one: unless `at_once`, what its run has compiled is
        kept first, which takes a moment. Call with the lock held."""
        self._next = None
        job = self._current
        if job is None:
            return
        job.over = True
        if job.reporting and not at_once:
            job.stop_later = True
        else:
            # In a thread: killing may wait for a lock while a process starts.
            threading.Thread(target=job.cancel.cancel, name="cancel").start()

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
        number = job.number
        judged = job.race_of is not None
        try:
            with Session(
                job.lesson, job.code, cancel=job.cancel, sandboxes=self._sandboxes
            ) as session:
                report = job.race_of or self._judge(job, session)
                judged = True
                if report.passed and job.listener is not None and not job.cancel.cancelled:
                    self._emit(job, RaceFinished(number, session.add_race(report)))
        except Cancelled:
            if not judged:
                self._emit(job, RunStopped(number))
        except Exception as error:
            _logger.error("internal error", exc_info=error)
            fault = Fault(
                "internal",
                f"internal error: {type(error).__name__}: {error}. "
                "This may be a bug in jaxtutor: run `jaxtutor doctor --report`",
            )
            self._emit(job, RunFinished(number, Report(job.lesson.id, "internal", (), fault=fault)))

    def _judge(self, job: _Job, session: Session) -> Report:
        """Run the checks of a job, and report each result."""
        number = job.number
        report = session.check(
            job.seed,
            lambda result: self._emit(job, CheckFinished(number, result)),
            lambda: self._emit(job, ReferenceNeeded(number)),
            lambda at: self._emit(job, TrainingProgressed(number, at.step, at.loss)),
        )
        finished = RunFinished(number, report)
        with self._change:
            stopped, job.over = job.over, True
            job.reporting = True
            ahead = job.listener is None
            if ahead:
                job.events.append(finished)
            if ahead and not stopped and report.verdict != "internal":
                # Our own failure is not kept: the next `run` tries again.
                self._ahead = job
        if not ahead:
            self._emit(job, finished)
        self._on_report(job.lesson)
        with self._change:
            job.reporting = False
            if not job.stop_later:
                return report
        job.cancel.cancel()
        return report
