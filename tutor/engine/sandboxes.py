"""Where the sandboxes of a run come from, and how to stop one."""

import threading
from typing import Protocol

from tutor.engine.plan import Configuration, sandbox_for
from tutor.engine.references import SPEC as REFERENCE
from tutor.lesson import Lesson
from tutor.sandbox.process import Sandbox
from tutor.sandbox.zygotes import Zygotes


class Sandboxes(Protocol):
    """Supplies learners' sandboxes, started on demand or kept warm."""

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        """Return a sandbox in which no code but the pack's has run.

        Raises:
            Failed: it could not be started.
        """

    def release(self, sandbox: Sandbox) -> None:
        """Take back a sandbox that is no longer needed."""

    def reference(self) -> Sandbox:
        """Return a sandbox for PyTorch (`tutor.engine.references.SPEC`); the caller closes it.

        Raises:
            Failed: it could not be started.
        """


class FreshSandboxes:
    """Starts each sandbox on demand, as a new process.

    **Arguments:** `zygotes`: fork learners' sandboxes from one of these, if possible.
    """

    def __init__(self, zygotes: Zygotes | None = None) -> None:
        self._zygotes = zygotes

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        return Sandbox.start(sandbox_for(lesson, configuration), self._zygotes)

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
        """Kill this sandbox, too, on `cancel`."""
        with self._lock:
            self._sandboxes.append(sandbox)
            if self.cancelled:
                sandbox.kill()
