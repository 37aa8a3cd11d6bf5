"""`run(lesson, code) -> Report`: the only way in which code is checked.

The app, `check`, `watch` and everything to come call this; none has a copy. The learner's code
runs in one sandbox (one per number of devices), the lesson's PyTorch in another; this process
draws the inputs, asks both sides, and judges what comes back with NumPy.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from tutor import paths
from tutor.check import Check
from tutor.lesson import Lesson
from tutor.report import CheckResult, Fault, Report
from tutor.run.plan import Configuration, configuration_of, sandbox_for
from tutor.run.references import SPEC as REFERENCE
from tutor.sandbox import faults
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.process import Cancelled, Failed, Sandbox
from tutor.sandbox.protocol import Load, Loaded, Raised, Ready

if TYPE_CHECKING:
    from tutor.run.judge import Round

__all__ = ["Cancel", "Cancelled", "Sandboxes", "Session", "run"]

MAX_SOURCE = 1 << 20
"""Bytes of a submission."""

OnResult = Callable[[CheckResult], None]


def run(
    lesson: Lesson,
    code: str,
    *,
    seed: int = 0,
    on_result: OnResult | None = None,
    cancel: "Cancel | None" = None,
) -> Report:
    """Check `code` against a lesson.

    **Arguments:** `seed` fixes the hidden inputs; `on_result` hears each result as it comes (in
    this thread); `cancel` stops the run.

    **Returns:** the report. Whatever the learner's code does, it comes: see
    `tutor.sandbox.allowance`.

    Raises:
        Cancelled: `cancel.cancel()` was called.
    """
    with Session(lesson, code, cancel=cancel) as session:
        return session.timed(session.check(seed, on_result))


class Sandboxes(Protocol):
    """Where learners' sandboxes come from: started when they are wanted, or waiting already."""

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        """One that no foreign code but the pack's own has been in.

        Raises:
            Failed: it could not be started.
        """

    def release(self, sandbox: Sandbox) -> None:
        """Nobody needs this one any more."""

    def reference(self) -> Sandbox:
        """One for PyTorch (`tutor.run.references.SPEC`); whoever has it closes it.

        Raises:
            Failed: it could not be started.
        """


class FreshSandboxes:
    """Sandboxes started when they are wanted."""

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        return Sandbox.start(sandbox_for(lesson, place))

    def release(self, sandbox: Sandbox) -> None:
        sandbox.close()

    def reference(self) -> Sandbox:
        return Sandbox.start(REFERENCE)


class Cancel:
    """Stops a run from another thread: `run(..., cancel=c)` and then `c.cancel()`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sandboxes: list[Sandbox] = []
        self.cancelled = False

    def cancel(self) -> None:
        with self._lock:
            self.cancelled = True
            for sandbox in self._sandboxes:
                sandbox.kill()

    def watch(self, sandbox: Sandbox) -> None:
        """Have this sandbox killed too."""
        with self._lock:
            self._sandboxes.append(sandbox)
            if self.cancelled:
                sandbox.kill()


class Session:
    """One submission, checked under one seed or several without importing it anew.

        with Session(lesson, code) as session:
            reports = [session.check(seed) for seed in range(20)]

    **Arguments:** `memory`: the folder in which PyTorch's answers are remembered; `quick`:
    whether XLA may compile fast, by default as each check allows; `sandboxes`: where they come
    from.
    """

    def __init__(
        self,
        lesson: Lesson,
        code: str,
        *,
        cancel: Cancel | None = None,
        memory: Path | None = None,
        quick: bool | None = None,
        sandboxes: Sandboxes | None = None,
    ) -> None:
        self.lesson = lesson
        self.code = code
        self.cancel = cancel or Cancel()
        self.memory = memory or paths.cache() / "references"
        self._quick = quick
        self._sandboxes = sandboxes or FreshSandboxes()
        self._benches: dict[Configuration, LoadedSandbox] = {}
        self._round: Round | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._round is not None:
            self._round.close()
        for bench in self._benches.values():
            self._sandboxes.release(bench.sandbox)

    def check(
        self,
        seed: int = 0,
        on_result: OnResult | None = None,
        on_miss: Callable[[], None] | None = None,
        *,
        all_checks: bool = True,
    ) -> Report:
        """Check under one seed. See `run`, but that nothing is timed.

        **Arguments:** `on_miss`: called if PyTorch's answers are not remembered, and so will take
        a second or more; `all_checks`: also those after the first that finds something wrong.
        """
        from tutor.run.judge import Round

        if self._round is not None:
            self._round.close()
        self._round = Round(self, seed, on_result, on_miss, all_checks=all_checks)
        return self._round.report()

    def timed(self, report: Report) -> Report:
        """The report of the last check, and if that was a pass, with the time that the translation
        takes beside the original's. Takes about half a second.

        Raises:
            Cancelled: see `run`.
        """
        return self._round.timed(report) if self._round is not None else report

    def place(self, check: Check | None = None) -> Configuration:
        """Where a check runs, or what goes with none."""
        return configuration_of(self.lesson, check, self._quick)

    def bench(self, place: Configuration) -> "LoadedSandbox":
        """A living sandbox.

        Raises:
            Failed: it did not start.
        """
        bench = self._benches.get(place)
        if bench is None or bench.dead:
            if bench is not None:
                self._sandboxes.release(bench.sandbox)
            bench = LoadedSandbox(self._sandboxes.take(self.lesson, place), self)
            self._benches[place] = bench
            self.cancel.watch(bench.sandbox)
        return bench

    @property
    def main_bench(self) -> "LoadedSandbox | None":
        """The sandbox of the lesson's ordinary checks, if it was started."""
        return self._benches.get(self.place())

    def reference(self) -> Sandbox:
        """A sandbox for PyTorch, that a cancelled run ends too."""
        sandbox = self._sandboxes.reference()
        self.cancel.watch(sandbox)
        return sandbox

    def output(self) -> tuple[str, str]:
        """What the learner's code has printed: standard output, and standard error."""
        boxes = [bench.sandbox for bench in self._benches.values()]
        return (
            "".join(box.stdout.text() for box in boxes),
            "".join(box.stderr.text() for box in boxes),
        )

    def peak_mb(self) -> int | None:
        """The most memory that one of its sandboxes has had, in MiB; None where that cannot be
        told."""
        seen = [bench.sandbox.peak_mb for bench in self._benches.values() if not bench.dead]
        return max((peak for peak in seen if peak is not None), default=None)

    def source_fault(self) -> Fault | None:
        """What makes the text no Python source at all."""
        if len(self.code.encode("utf-8", "surrogatepass")) > MAX_SOURCE:
            return Fault("bad-source", f"the file is larger than {MAX_SOURCE >> 10} KiB")
        if (at := self.code.find("\0")) >= 0:
            line = self.code.count("\n", 0, at) + 1
            return Fault("bad-source", f"line {line}: there is a NUL byte in the file", line=line)
        try:
            self.code.encode()
        except UnicodeEncodeError as error:
            line = self.code.count("\n", 0, error.start) + 1
            what = f"line {line}: a character that is not valid Unicode (a lone surrogate)"
            return Fault("bad-source", what, line=line)
        return None


class LoadedSandbox:
    """A sandbox with the learner's module in it, or on the way there."""

    def __init__(self, sandbox: Sandbox, session: Session) -> None:
        self.sandbox = sandbox
        self.ready: Ready | None = None
        self.dead = False
        self.start_seconds = 0.0
        self.load_seconds = 0.0
        self._session = session
        self._loaded = False

    def allowance(self) -> Allowance:
        """The time that one run may take here."""
        seconds = self._session.lesson.limits.seconds
        # Work on an accelerator is no processor time, and no waiting either.
        return Allowance(seconds, idle=seconds if self.sandbox.spec.accelerators else None)

    def load(self, allowance: Allowance) -> None:
        """Have the learner's module imported, if it is not yet. Their time starts when their code
        does.

        Raises:
            Failed: it could not be; the fault says why.
        """
        if self.ready is None:
            began = time.perf_counter()
            self.ready = self.sandbox.ready()
            self.start_seconds = time.perf_counter() - began
        lesson, code = self._session.lesson, self._session.code
        if self._loaded:
            return
        began = time.perf_counter()
        load = Load("load", code, f"{lesson.id}.py")
        try:
            reply, _ = self.sandbox.ask(load, None, allowance, "the import of your code")
            if isinstance(reply, Raised):
                raise Failed(faults.from_raised(reply, code))
            if not isinstance(reply, Loaded):
                raise Failed(faults.unsaid(reply, "the import of your code"))
        except Failed:
            self.dead = True  # a module that half loaded is of no more use
            raise
        self.load_seconds = time.perf_counter() - began
        self._loaded = True
