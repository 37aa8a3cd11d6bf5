"""Executors run submissions: they take jobs and return futures of reports.

`LocalExecutor` uses this machine. Another executor needs the same methods: it sends a `Job`, which
is plain data, to a process that calls `run_job`, and brings the reports back.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

import msgspec
from msgspec import Struct

from tutor.engine.cancels import Cancels
from tutor.engine.plan import Configuration, configuration_of
from tutor.engine.sandboxes import Cancel, Sandboxes
from tutor.engine.session import Session
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import Fault, Report
from tutor.sandbox.faults import OVERTIME
from tutor.sandbox.isolation import missing
from tutor.sandbox.process import Failed, Sandbox


class Job(Struct, frozen=True):
    """A submission to run once per seed. Plain data.

    `learn`: this is the pack's own answer; keep its compiled programs for the submissions that
    follow; `variants`: other answers of the pack. An executor may run them afterwards, in the
    background, and keep their programs, too. No result depends on whether it has.
    """

    lesson: str
    code: str
    seeds: tuple[int, ...]
    learn: bool = False
    variants: tuple[str, ...] = ()


class Quarantined(Exception):
    """A submission repeatedly killed the process that ran it and is not run again; the message says
    what is known, for review."""


class Unavailable(Exception):
    """Submissions cannot be run, or no longer; the message says what to do."""


class Executor(Protocol):
    """Use as a context manager; leaving it kills what is still running.

    `width` is the number of jobs that run at a time, as far as known; twice as many are submitted.
    """

    @property
    def width(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def missing_protections(self, lesson: str) -> Sequence[str]:
        """Return which essential protections (files, network, processes) are missing.

        Raises:
            Failed, Unavailable: no sandbox can be started.
        """

    def stall_reason(self) -> str:
        """Return why no job finishes, if a person can do something about it; empty otherwise."""

    def submit(self, job: Job) -> "Future[tuple[Report, ...]]":
        """Submit a job. Except for `Quarantined`, an exception of the future is not the
        submission's fault.

        Raises:
            Unavailable: no more jobs can be run.
        """


class LocalExecutor:
    """Runs jobs in threads, each with its own sandboxes.

    **Arguments:** `jobs`: the number of threads; `require`: run nothing if an essential protection
    is missing; `forks`: the source of sandboxes, which the caller closes; by default a new one,
    closed here; `reference_cache`: the directory of cached PyTorch answers.
    """

    def __init__(
        self,
        pack: Pack,
        jobs: int,
        require: bool = True,
        forks: Forks | None = None,
        reference_cache: Path | None = None,
    ) -> None:
        self.width = jobs
        self._pack = pack
        self._forks = forks if forks is not None else Forks()
        self._close = self._forks.close if forks is None else None
        self._references = reference_cache
        self._require = require
        self._sandboxes: Sandboxes = RequireProtections(self._forks) if require else self._forks
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="grading")
        self._cancels = Cancels()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._cancels.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._close is not None:
            self._close()
        self._threads.shutdown()

    def missing_protections(self, lesson: str) -> Sequence[str]:
        """See `Executor`."""
        first = self._pack.lesson(lesson)
        with self._forks.start(first, configuration_of(first)) as sandbox:
            sandbox.ready()
            return missing(sandbox.protections)

    def stall_reason(self) -> str:
        """See `Executor`."""
        return ""

    def submit(self, job: Job) -> "Future[tuple[Report, ...]]":
        """See `Executor`."""
        running = self._threads.submit(self._run, job)
        if job.variants:
            running.add_done_callback(lambda solution: self._learn_variants(job, solution))
        return running

    def _learn_variants(self, job: Job, solution: "Future[tuple[Report, ...]]") -> None:
        """Run the variants once the solution has passed: they share most of its programs."""
        if solution.cancelled() or solution.exception() is not None:
            return
        if not all(report.passed for report in solution.result()):
            return
        for code in job.variants:
            with suppress(RuntimeError):  # the batch has ended
                self._threads.submit(self._run, Job(job.lesson, code, job.seeds[:1], learn=True))

    def _run(self, job: Job) -> tuple[Report, ...]:
        with self._cancels.run() as cancel:
            lesson = self._pack.lesson(job.lesson)
            if job.learn and (learnt := self._learn(job, lesson, cancel)) is not None:
                job = msgspec.structs.replace(job, seeds=job.seeds[1:])
                return (learnt, *run_job(job, lesson, self._sandboxes, cancel, self._references))
            return run_job(job, lesson, self._sandboxes, cancel, self._references)

    def _learn(self, job: Job, lesson: Lesson, cancel: Cancel) -> Report | None:
        """Run a job with its first seed, and keep its compiled programs.

        **Returns:** None unless it passed. Then it has to be run again, with those programs: to
        compile everything takes long on a busy machine, and that is no fault of the code.
        """
        first = msgspec.structs.replace(job, seeds=job.seeds[:1])
        learning: Sandboxes = self._forks.learning(lesson, job.code, job.seeds[0])
        if self._require:
            learning = RequireProtections(learning)
        (report,) = run_job(first, lesson, learning, cancel, self._references)
        return report if report.passed else None


def run_job(
    job: Job,
    lesson: Lesson,
    sandboxes: Sandboxes,
    cancel: Cancel | None = None,
    reference_cache: Path | None = None,
) -> tuple[Report, ...]:
    """Run a job in this process. Each seed gets new sandboxes, so that no run can help the next. A
    run that failed through jaxtutor or a busy machine is tried once more. Code that cannot be
    imported or ran out of time with one seed is not run with another.

    **Arguments:** `reference_cache`: the directory of cached PyTorch answers.

    Raises:
        Cancelled: `cancel.cancel()` was called.
    """
    reports = []

    def run(lesson: Lesson, seed: int) -> Report:
        with Session(
            lesson, job.code, cancel=cancel, reference_cache=reference_cache, sandboxes=sandboxes
        ) as session:
            return session.check(seed)

    for seed in job.seeds:
        report = run(lesson, seed)
        if report.verdict == "internal":
            report = run(lesson, seed)
        # Its output is no longer needed, and may be large.
        reports.append(msgspec.structs.replace(report, stdout="", stderr=""))
        if report.fault is not None or any(
            check.fault is not None and check.fault.code in OVERTIME for check in report.checks
        ):
            break
    return tuple(reports)


class RequireProtections:
    """Sandboxes that refuse to start if an essential protection is missing."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        """See `tutor.engine.sandboxes.Sandboxes`."""
        sandbox = self._sandboxes.take(lesson, configuration)
        try:
            sandbox.ready()
            if names := missing(sandbox.protections):
                what = f"{', '.join(names)} not covered by this sandbox; see `jaxtutor doctor`"
                raise Failed(Fault("no-sandbox", what))
        except BaseException:
            self._sandboxes.release(sandbox)
            raise
        return sandbox

    def release(self, sandbox: Sandbox) -> None:
        """See `tutor.engine.sandboxes.Sandboxes`."""
        self._sandboxes.release(sandbox)

    def reference(self) -> Sandbox:
        """See `tutor.engine.sandboxes.Sandboxes`."""
        return self._sandboxes.reference()
