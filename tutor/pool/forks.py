"""Learners' sandboxes forked from a zygote when they are wanted, and given compiled programs.

Grading uses this, where sandboxes follow each other without a pause; `tutor.pool.pool` keeps them
ready for a learner. A solution is run in a sandbox of its own (`learn`), never in
one that a submission gets: that one is given what was compiled, and can read of it only what it
would have had compiled itself.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from tutor import paths
from tutor.engine.plan import Configuration, configurations, sandbox_for
from tutor.engine.references import SPEC as REFERENCE
from tutor.lesson import Lesson
from tutor.pool.priming import give, prime
from tutor.pool.programs import Programs
from tutor.sandbox.allowance import Allowance
from tutor.sandbox.launch import zygotes
from tutor.sandbox.process import Failed, Sandbox
from tutor.tree import Tree


class Forks:
    """Use as a context manager, or `close` it. All methods may be called from any thread.

    **Arguments:** `cache`: the folder in which programs are kept.
    """

    def __init__(self, cache: Path | None = None) -> None:
        self.programs = Programs((cache or paths.cache()) / "programs")
        self.zygotes = zygotes()
        self._codes: dict[str, tuple[Lesson, Sequence[str], int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def take(self, lesson: Lesson, place: Configuration) -> Sandbox:
        """See `tutor.engine.submission.Sandboxes`."""
        sandbox = self.begin(lesson, place)
        known, codes, seed = self._codes.get(lesson.id, (None, (), 0))
        programs: dict[str, Tree] = {}
        for code in codes if known is lesson else ():
            programs |= self.programs.load(lesson, place, code, seed)
        if programs:
            try:
                give(sandbox, programs, Allowance(lesson.limits.seconds))
            except Failed:
                sandbox.close()
                return self.begin(lesson, place)
        return sandbox

    def release(self, sandbox: Sandbox) -> None:
        """See `tutor.engine.submission.Sandboxes`."""
        sandbox.close()

    def reference(self) -> Sandbox:
        """See `tutor.engine.submission.Sandboxes`."""
        self.zygotes.start("reference")
        return Sandbox.start(REFERENCE, self.zygotes)

    def begin(self, lesson: Lesson, place: Configuration) -> Sandbox:
        """A sandbox that has been given nothing.

        Raises:
            Failed: it could not be started.
        """
        self.zygotes.start("learner")
        return Sandbox.start(sandbox_for(lesson, place), self.zygotes)

    def known(self, lesson: Lesson, codes: Sequence[str], seed: int = 0) -> None:
        """Give the sandboxes of this lesson what `codes` once needed compiled."""
        self._codes[lesson.id] = lesson, codes, seed

    def learn(self, lesson: Lesson, code: str, seed: int = 0) -> None:
        """`known`, and if nothing is remembered of `code`, run it once.

        Raises:
            Failed: it has broken its sandbox, or none could be started.
            tutor.inputs.functions.DrawError: an input cannot be drawn.
        """
        for place in configurations(lesson):
            if not self.programs.load(lesson, place, code, seed):
                with self.begin(lesson, place) as sandbox:
                    prime(sandbox, lesson, place, code, seed, self.programs, lambda: False)
        self.known(lesson, [code], seed)

    def close(self) -> None:
        """End every process."""
        self.zygotes.close()
