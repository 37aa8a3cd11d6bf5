"""Learners' sandboxes forked from a zygote on demand, and given compiled programs.

Grading uses these, where one sandbox follows another without a pause; `tutor.pool.pool` keeps
sandboxes ready for a learner. A solution runs in a sandbox for itself (`compile_programs`,
`learning`), never in one that a submission gets. A submission's sandbox gets the compiled programs,
and can read only those that it would have compiled itself.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from tutor.engine.plan import Configuration, configurations, sandbox_for
from tutor.engine.references import SPEC as REFERENCE
from tutor.lesson import Lesson
from tutor.pool.priming import give, prime
from tutor.pool.programs import Programs
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.launch import zygotes
from tutor.sandbox.process import Cancelled, Failed, Sandbox
from tutor.sandbox.protocol import Answer, Collect
from tutor.storage import paths
from tutor.tree import Tree


class Forks:
    """Forked sandboxes (see `tutor.engine.sandboxes.Sandboxes`). A context manager; all methods
    may be called from any thread.

    **Arguments:** `cache`: the directory in which programs are cached.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self.programs = Programs((cache or paths.cache()) / "programs")
        self.zygotes = zygotes()
        self._codes: dict[str, tuple[Lesson, Sequence[str], int]] = {}
        self._adding = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        sandbox = self.start(lesson, configuration)
        known, codes, seed = self._codes.get(lesson.id, (None, (), 0))
        programs: dict[str, Tree] = {}
        for code in codes if known is lesson else ():
            programs |= self.programs.load(lesson, configuration, code, seed)
        if programs:
            try:
                give(sandbox, programs, Allowance(lesson.limits.seconds))
            except Failed:
                sandbox.close()
                return self.start(lesson, configuration)
        return sandbox

    def release(self, sandbox: Sandbox) -> None:
        sandbox.close()

    def reference(self) -> Sandbox:
        self.zygotes.start("reference")
        return Sandbox.start(REFERENCE, self.zygotes)

    def start(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        """Return a sandbox without compiled programs.

        Raises:
            Failed: it could not be started.
        """
        self.zygotes.start("learner")
        return Sandbox.start(sandbox_for(lesson, configuration), self.zygotes)

    def use_programs(self, lesson: Lesson, codes: Sequence[str], seed: int = 0) -> None:
        """Give this lesson's sandboxes the programs cached for `codes`."""
        self._codes[lesson.id] = lesson, codes, seed

    def compile_programs(self, lesson: Lesson, code: str, seed: int = 0) -> None:
        """Run `code` once unless its programs are cached, and give them to this lesson's sandboxes.

        Raises:
            Failed: the code broke its sandbox, or none could be started.
            tutor.inputs.functions.DrawError: an input cannot be drawn.
        """
        for configuration in configurations(lesson):
            if not self.programs.load(lesson, configuration, code, seed):
                with self.start(lesson, configuration) as sandbox:
                    prime(sandbox, lesson, configuration, code, seed, self.programs, lambda: False)
        self.use_programs(lesson, [code], seed)

    def learning(self, lesson: Lesson, code: str, seed: int = 0) -> "Learning":
        """Return sandboxes for a run of `code`, which is the pack's own. This lesson's sandboxes
        get the programs that it compiles, in addition to those of codes run so before. One run
        judges the code and compiles its programs, for which `compile_programs` needs another."""
        with self._adding:
            known, codes, seed_before = self._codes.get(lesson.id, (lesson, (), seed))
            if known is not lesson or seed_before != seed:
                codes = ()
            if code not in codes:
                self.use_programs(lesson, (*codes, code), seed)
        return Learning(self, code, seed)

    def close(self) -> None:
        """End every process."""
        self.zygotes.close()


class Learning:
    """Sandboxes of `forks` for one run of the pack's own code (see `Forks.learning`)."""

    def __init__(self, forks: Forks, code: str, seed: int) -> None:
        self._forks = forks
        self._code = code
        self._seed = seed
        self._taken: dict[Sandbox, tuple[Lesson, Configuration]] = {}

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        sandbox = self._forks.take(lesson, configuration)
        self._taken[sandbox] = lesson, configuration
        return sandbox

    def release(self, sandbox: Sandbox) -> None:
        lesson, configuration = self._taken.pop(sandbox)
        if sandbox.alive:
            with suppress(Failed, Cancelled):  # only slower without
                self._collect(sandbox, lesson, configuration)
        self._forks.release(sandbox)

    def reference(self) -> Sandbox:
        return self._forks.reference()

    def _collect(self, sandbox: Sandbox, lesson: Lesson, configuration: Configuration) -> None:
        programs = self._forks.programs
        known = programs.load(lesson, configuration, self._code, self._seed)
        allowance = Allowance(lesson.limits.seconds)
        reply, made = sandbox.ask(Collect("collect"), None, allowance, "collecting programs")
        if isinstance(reply, Answer) and isinstance(made, dict) and made.keys() - known.keys():
            programs.save(lesson, configuration, self._code, self._seed, {**known, **made})
