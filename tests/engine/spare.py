"""Sandboxes of which there is always one to spare."""

from collections.abc import Callable

from tutor.engine.plan import Configuration
from tutor.lesson import Lesson
from tutor.pool.forks import Forks
from tutor.sandbox.process import Sandbox


class WithSpare:
    """Forked sandboxes, and a second one for every run that wants one.

    **Arguments:** `spoil`: is done to each second sandbox.
    """

    def __init__(self, forks: Forks, spoil: Callable[[Sandbox], None] = lambda sandbox: None):
        self.forks = forks
        self.spares: list[Sandbox] = []
        self.open = 0
        self._spoil = spoil

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        self.open += 1
        return self.forks.take(lesson, configuration)

    def spare(self, lesson: Lesson, configuration: Configuration) -> Sandbox | None:
        self.open += 1
        self.spares.append(self.forks.take(lesson, configuration))
        self._spoil(self.spares[-1])
        return self.spares[-1]

    def release(self, sandbox: Sandbox) -> None:
        self.open -= 1
        self.forks.release(sandbox)

    def reference(self) -> Sandbox:
        return self.forks.reference()
