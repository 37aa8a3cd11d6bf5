"""A learner's code in its sandboxes: one for each configuration that the lesson's checks need."""

import time
from itertools import chain
from typing import Any

from msgspec import Struct

from tutor.check import Case, Check
from tutor.engine.ahead import AheadAnswers
from tutor.engine.plan import Configuration, case_id, configuration_of
from tutor.engine.sandbox_requests import (
    VALUE,
    harness_of,
    load_request,
    observations,
    shown_code,
    together,
)
from tutor.engine.sandboxes import Cancel, Sandboxes
from tutor.foreign.python_source import parse
from tutor.foreign.source_text import MAX_BYTES
from tutor.lesson import Lesson
from tutor.report import Fault
from tutor.sandbox import exceptions, faults
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.output import without_logs
from tutor.sandbox.process import Failed, Lost, OnProgress, Sandbox
from tutor.sandbox.protocol import (
    HARNESS,
    Answer,
    Load,
    Loaded,
    Noticed,
    Observe,
    Raised,
    Ready,
    Reply,
)
from tutor.tree import Tree

FULL = 0.5
"""Share of its memory limit above which a sandbox gets no further run."""

_IMPORT = "the import of your code"


class Observation(Struct, frozen=True, eq=False):
    """A sandbox's reply to one case of a check; `tree` is the value that came with it.

    For a check that looks `ahead`, `tree` is what it read of the source, and `ahead` the sandbox's
    answer.
    """

    check: Check
    case: Case
    reply: Reply
    tree: Tree
    ahead: Tree = None


class LoadedSandbox:
    """A sandbox that has imported the learner's module, or is about to."""

    def __init__(self, sandbox: Sandbox, lesson: Lesson, code: str) -> None:
        self.sandbox = sandbox
        self.ready: Ready | None = None
        self.dead = False
        self.start_seconds = 0.0
        self.load_seconds = 0.0
        self._lesson = lesson
        self._code = code
        self.loaded = False

    def allowance(self) -> Allowance:
        """Return the time that one run may take in this sandbox."""
        seconds = self._lesson.limits.seconds
        # Work on an accelerator counts neither as processor time nor as waiting.
        return Allowance(seconds, idle=seconds if self.sandbox.spec.accelerators else None)

    def load(self, allowance: Allowance) -> None:
        """Import the learner's module unless that was done before. The allowance starts to count
        when their code does.

        Raises:
            Failed: the import failed; the fault says why.
        """
        if self.ready is None:
            began = time.perf_counter()
            self.ready = self.sandbox.ready()
            self.start_seconds = time.perf_counter() - began
        if self.loaded:
            return
        self._load_harness()
        began = time.perf_counter()
        load = load_request(self._lesson, self._code)
        reply, _ = self.ask(load, None, allowance, _IMPORT)
        if not isinstance(reply, Loaded):
            self.dead = True  # a half-imported module is of no use
            if isinstance(reply, Raised):
                raise Failed(exceptions.from_raised(reply, self._code))
            raise Failed(faults.unreadable(reply, _IMPORT))
        self.load_seconds = time.perf_counter() - began
        self.loaded = True

    def _load_harness(self) -> None:
        """Import the lesson's `jax_harness`, in time of its own.

        Raises:
            Failed: the import failed. No code of the learner's has run yet, so it is the pack's
                fault.
        """
        load = harness_of(self._lesson)
        if load is None:
            return
        try:
            reply, _ = self.ask(load, None, self.allowance(), "the lesson's jax_harness")
        except Lost:
            raise
        except Failed as failure:
            raise Failed(self._of_the_harness(failure.fault)) from None
        if not isinstance(reply, Loaded):
            self.dead = True
            fault = faults.unreadable(reply, "the lesson's jax_harness")
            if isinstance(reply, Raised):
                fault = exceptions.from_raised(reply, load.source)
            raise Failed(self._of_the_harness(fault))
        self.sandbox.forget_output()  # of importing it

    def _of_the_harness(self, fault: Fault) -> Fault:
        """Return a fault of the sandbox as the pack's, unless it is ours."""
        if fault.code in faults.INTERNAL:
            return fault
        what = f"lesson {self._lesson.id} is broken: its jax_harness cannot be imported"
        return Fault(
            "broken-pack",
            f"{what}: {fault.message}",
            detail=fault.detail,
            frames=fault.frames,
            line=fault.line,
            running=HARNESS,
        )

    def ask(
        self,
        request: Load | Observe,
        tree: Tree,
        allowance: Allowance,
        running: str,
        on_progress: OnProgress = lambda progress: None,
    ) -> tuple[Reply, Tree]:
        """Return the sandbox's reply.

        Raises:
            Failed: the sandbox has ended.
        """
        try:
            return self.sandbox.ask(request, tree, allowance, running, on_progress)
        except Failed:
            self.dead = True
            raise


class Submission:
    """One learner's code, in as many sandboxes as its checks need. `close` releases them.

    **Arguments:** `answers`: what the pack's own programs give.
    """

    def __init__(
        self,
        lesson: Lesson,
        code: str,
        sandboxes: Sandboxes,
        cancel: Cancel,
        answers: AheadAnswers,
    ) -> None:
        self.lesson = lesson
        self.code = code
        self.failed: dict[Configuration, Fault] = {}
        self._sandboxes = sandboxes
        self._cancel = cancel
        self._answers = answers
        self._started: dict[Configuration, LoadedSandbox] = {}
        self._allowances: dict[Configuration, Allowance] = {}
        self._spent = 0.0
        self._ahead: dict[str, Tree | Fault] = {}
        self._noticed: list[Noticed] = []

    def close(self) -> None:
        for loaded in self._started.values():
            self._sandboxes.release(loaded.sandbox)

    def begin_run(self) -> None:
        """Start counting time anew, and forget which sandboxes failed. A sandbox whose memory is
        half full is replaced: JAX keeps every program that earlier runs compiled in it."""
        self._allowances.clear()
        self.failed.clear()
        self._spent = 0.0
        full = FULL * self.lesson.limits.memory_mb
        for loaded in self._started.values():
            peak = loaded.sandbox.peak_mb if not loaded.dead else None
            loaded.dead = loaded.dead or (peak is not None and peak > full)

    def configuration(self, check: Check | None = None) -> Configuration:
        """Return the configuration in which a check runs, or the lesson's own."""
        return configuration_of(self.lesson, check)

    @property
    def main(self) -> LoadedSandbox | None:
        """The sandbox of the lesson's ordinary checks, if it was started."""
        return self._started.get(self.configuration())

    def start(self, configuration: Configuration) -> LoadedSandbox:
        """Return a living sandbox without waiting for it to be ready.

        Raises:
            Failed: it did not start.
        """
        loaded = self._started.get(configuration)
        if loaded is None or loaded.dead:
            if loaded is not None:
                self._noticed += loaded.sandbox.noticed
                self._sandboxes.release(loaded.sandbox)
            sandbox = self._sandboxes.take(self.lesson, configuration)
            loaded = self._started[configuration] = LoadedSandbox(sandbox, self.lesson, self.code)
            self._cancel.watch(sandbox)
        return loaded

    def load(self, configuration: Configuration) -> LoadedSandbox:
        """Return a sandbox that has imported the code. One that was lost is replaced once.

        Raises:
            Failed: the import failed, or no sandbox could be started.
        """
        if configuration in self._allowances:
            return self.start(configuration)
        try:
            return self._load(configuration)
        except Lost:  # neither the code's fault nor ours
            return self._load(configuration)

    def _load(self, configuration: Configuration) -> LoadedSandbox:
        loaded = self.start(configuration)
        self._look_ahead(configuration, loaded)
        allowance = self._allowances[configuration] = loaded.allowance()
        if self._must_run(configuration):
            loaded.load(allowance)
        return loaded

    def _must_run(self, configuration: Configuration) -> bool:
        """Return whether a check needs the code to be imported, or its import says what is wrong
        with it."""
        checks = [c for c in self.lesson.checks if self.configuration(c) == configuration]
        if not checks or any(check.ahead() is None for check in checks):
            return True
        try:
            parse(self.code)
        except SyntaxError:
            return True
        return False

    def _look_ahead(self, configuration: Configuration, loaded: LoadedSandbox) -> None:
        """Run what checks want to be run before the learner's code is imported, unless the answer
        is known."""
        for check in self.lesson.checks:
            args = check.ahead()
            if args is None or check.title in self._ahead:
                continue
            if self.configuration(check) == configuration:
                known = self._answers.load(check, loaded.sandbox.spec)
                self._ahead[check.title] = known or self._asked_ahead(check, args, loaded)

    def _asked_ahead(
        self, check: Check, args: dict[str, Any], loaded: LoadedSandbox
    ) -> Tree | Fault:
        try:
            reply, tree = self._answers.ask(loaded.sandbox, check, args, loaded.allowance())
        except Lost:
            loaded.dead = True
            raise
        except Failed as failure:
            loaded.dead = True
            return self._pack_fault(check, failure.fault)
        if isinstance(reply, Raised):
            return self._pack_fault(check, exceptions.from_raised(reply, args.get("program", "")))
        if not isinstance(reply, Answer):
            return faults.unreadable(reply, check.title)
        if why := check.broken(tree):
            return self._pack_fault(check, Fault("broken-pack", why))
        return tree

    def _pack_fault(self, check: Check, fault: Fault) -> Fault:
        if fault.code in faults.INTERNAL and fault.code != "broken-pack":
            return fault
        what = f"lesson {self.lesson.id} is broken: its program fails at {check.title}"
        return Fault("broken-pack", f"{what}: {fault.message}", detail=fault.detail)

    def observe(
        self, check: Check, case: Case, on_progress: OnProgress = lambda progress: None
    ) -> Observation:
        """Run one case of a check, or read what it judges.

        **Arguments:** `on_progress`: called while a training runs.

        Raises:
            Failed: the sandbox has ended.
        """
        configuration = self.configuration(check)
        loaded = self.load(configuration)
        if check.ahead() is not None:
            found = self._ahead[check.title]
            if isinstance(found, Fault):
                raise Failed(found)
            read = Answer(case_id(check, case), compile=0, run=0)
            return Observation(check, case, read, check.read(self.code), found)
        allowance = self._allowances[configuration]
        running = shown_code(check)
        whole = Answer(case_id(check, case), compile=0, run=0)
        trees: list[Tree] = []
        for request, inputs in observations(check, case):
            reply, tree = loaded.ask(request, inputs, allowance, running, on_progress)
            if not isinstance(reply, Answer):
                return Observation(check, case, reply, tree)
            whole = Answer(whole.case, whole.compile + reply.compile, whole.run + reply.run)
            trees.append(tree)
        return self._completed(Observation(check, case, whole, together(trees)))

    def _completed(self, observation: Observation) -> Observation:
        """Return an observation with the value from another process, if its check compares one."""
        check, case, tree = observation.check, observation.case, observation.tree
        expression = check.elsewhere()
        if expression is None or not isinstance(tree, dict):
            return observation
        configuration = self.configuration(check).elsewhere
        loaded = self.load(configuration)
        request = Observe(case_id(check, case), VALUE, {"expression": expression})
        allowance = self._allowances[configuration]
        reply, value = loaded.ask(request, [*case.input_sets], allowance, shown_code(check))
        if not isinstance(reply, Answer):
            return Observation(check, case, reply, value)
        return Observation(check, case, observation.reply, {**tree, "elsewhere": value})

    def renew(self, check: Check) -> None:
        """Let a check have new sandboxes for those that have ended, with as much time again."""
        self._spent = self.processor_seconds
        for configuration in (self.configuration(check), self.configuration(check).elsewhere):
            self._allowances.pop(configuration, None)
            self.failed.pop(configuration, None)

    @property
    def overtime(self) -> Fault | None:
        """The fault of a sandbox that used up its time: no other sandbox gets as much again."""
        return next((f for f in self.failed.values() if f.code in faults.OVERTIME), None)

    @property
    def processor_seconds(self) -> float:
        """The most processor time that one sandbox has used in this run."""
        return max([self._spent, *(one.spent for one in self._allowances.values())])

    def output(self) -> tuple[str, str]:
        """Return what the code has printed: standard output, and standard error."""
        # What another process printed, the first one printed as well.
        boxes = [
            loaded.sandbox
            for configuration, loaded in self._started.items()
            if configuration.forked
        ]
        return (
            "".join(box.stdout.text() for box in boxes),
            without_logs("".join(box.stderr.text() for box in boxes)),
        )

    @property
    def noticed(self) -> list[Noticed]:
        """What the sandboxes noticed of the code, in any order."""
        living = (loaded.sandbox.noticed for loaded in self._started.values())
        return [*self._noticed, *chain.from_iterable(living)]

    def peak_mb(self) -> int | None:
        """Return the peak memory of the largest sandbox in MiB; None where it is unknown."""
        peaks = [loaded.sandbox.peak_mb for loaded in self._started.values() if not loaded.dead]
        return max((peak for peak in peaks if peak is not None), default=None)


def source_fault(code: str) -> Fault | None:
    """Return the fault of a text that cannot be Python source: too long, NUL, or surrogates."""
    if len(code.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return Fault("bad-source", f"the file is larger than {MAX_BYTES >> 10} KiB")
    if (at := code.find("\0")) >= 0:
        line = code.count("\n", 0, at) + 1
        return Fault("bad-source", f"line {line}: there is a NUL byte in the file", line=line)
    try:
        code.encode()
    except UnicodeEncodeError as error:
        line = code.count("\n", 0, error.start) + 1
        what = f"line {line}: a character that is not valid Unicode (a lone surrogate)"
        return Fault("bad-source", what, line=line)
    return None
