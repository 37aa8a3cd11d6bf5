"""Where submissions are run: an executor takes jobs, and gives futures of reports.

`LocalExecutor` is this machine. Another engine is one more class with these methods: it sends a
`Job`, which is plain data, to where `work` is called, and brings its reports back.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

import msgspec
from msgspec import Struct

from tutor.engine.plan import Configuration, configuration_of
from tutor.engine.session import Session
from tutor.engine.submission import Cancel, Sandboxes
from tutor.inputs.functions import DrawError
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pool.forks import Forks
from tutor.report import Fault, Report
from tutor.sandbox.faults import OVERTIME
from tutor.sandbox.isolation import missing
from tutor.sandbox.process import Cancelled, Failed, Sandbox


class Job(Struct, frozen=True):
    """One submission to run under each of these seeds. Plain data.

    `learn`: this is the lesson's solution, and many submissions are to come: what it needs compiled
    should be given to those.
    """

    lesson: str
    code: str
    seeds: tuple[int, ...]
    learn: bool = False


class Quarantined(Exception):
    """A submission has taken along whatever ran it, so it is not run any more; the message says
    what is known of it, for a person to look."""


class Unavailable(Exception):
    """What should run submissions cannot be had, or is gone; the message says what to do."""


class Executor(Protocol):
    """Use as a context manager; leaving it ends whatever still runs.

    `width` is how many jobs run at a time, as far as that is known: twice as many are handed over.
    """

    @property
    def width(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def missing_protections(self, lesson: str) -> Sequence[str]:
        """What of the essential is not covered where it runs: files, network or processes.

        Raises:
            Failed, Unavailable: no sandbox can be started.
        """

    def stall_reason(self) -> str:
        """Why no job gets done, where somebody could do something about it; empty otherwise."""

    def submit(self, job: Job) -> "Future[tuple[Report, ...]]":
        """Have a job run. An exception of the future means that it could not be, for no fault of
        the submission's; but see `Quarantined`.

        Raises:
            Unavailable: no job can be run any more.
        """


class LocalExecutor:
    """Threads here, each with sandboxes of its own.

    **Arguments:** `jobs`: how many at a time; `require`: run nothing where files, network or
    processes are not covered; `forks`: where sandboxes come from, still to be closed afterwards, by
    default its own; `memory`: the folder in which PyTorch's answers are remembered.
    """

    def __init__(
        self,
        pack: Pack,
        jobs: int,
        require: bool = True,
        forks: Forks | None = None,
        memory: Path | None = None,
    ) -> None:
        self.width = jobs
        self._pack = pack
        self._forks = forks if forks is not None else Forks()
        self._close = self._forks.close if forks is None else None
        self._memory = memory
        self._sandboxes: Sandboxes = Covered(self._forks) if require else self._forks
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="grading")
        self._lock = threading.Lock()
        self._running: set[Cancel] = set()
        self._stopped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._stopped = True
            for cancel in self._running:
                cancel.cancel()
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
        return self._threads.submit(self._work, job)

    def _work(self, job: Job) -> tuple[Report, ...]:
        cancel = Cancel()
        with self._lock:
            if self._stopped:
                raise Cancelled
            self._running.add(cancel)
        try:
            lesson = self._pack.lesson(job.lesson)
            if job.learn:
                with suppress(
                    Failed, DrawError
                ):  # it is slower without; the run tells what is wrong
                    self._forks.compile_programs(lesson, job.code, job.seeds[0])
            return run_job(job, lesson, self._sandboxes, cancel, self._memory)
        finally:
            with self._lock:
                self._running.discard(cancel)


def run_job(
    job: Job,
    lesson: Lesson,
    sandboxes: Sandboxes,
    cancel: Cancel | None = None,
    memory: Path | None = None,
) -> tuple[Report, ...]:
    """Run a job, here and now: each seed in processes of its own, so that nothing that one run has
    left behind helps the next. What was our own fault, or that of a busy machine, is tried once
    more. Code that cannot be imported is not imported again, and what has taken all its time under
    one seed is not given as much under another.

    **Arguments:** `memory`: the folder in which PyTorch's answers are remembered.

    Raises:
        Cancelled: `cancel.cancel()` was called.
    """
    reports = []

    def run(lesson: Lesson, seed: int) -> Report:
        with Session(
            lesson, job.code, cancel=cancel, memory=memory, sandboxes=sandboxes
        ) as session:
            return session.check(seed)

    for seed in job.seeds:
        report = run(lesson, seed)
        if report.verdict == "internal":
            report = run(lesson, seed)
        # What it printed is of no more use, and may be large.
        reports.append(msgspec.structs.replace(report, stdout="", stderr=""))
        if report.fault is not None or any(
            check.fault is not None and check.fault.code in OVERTIME for check in report.checks
        ):
            break
    return tuple(reports)


class Covered:
    """Sandboxes that give none to a stranger's code where something essential is not covered."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        """See `tutor.engine.submission.Sandboxes`."""
        sandbox = self._sandboxes.take(lesson, place)
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
        """See `tutor.engine.submission.Sandboxes`."""
        self._sandboxes.release(sandbox)

    def reference(self) -> Sandbox:
        """See `tutor.engine.submission.Sandboxes`."""
        return self._sandboxes.reference()
