"""Runs nobody has asked for yet, at a priority at which they do not slow other work down."""

import logging
import os

from tutor.engine.plan import Configuration
from tutor.engine.sandboxes import Sandboxes
from tutor.lesson import Lesson
from tutor.sandbox.process import Sandbox

NICENESS = 10
"""What is added to the niceness of a process."""

_logger = logging.getLogger(__name__)


class LowPriority:
    """Sandboxes of another source, at low priority until `end` (see
    `tutor.engine.sandboxes.Sandboxes`)."""

    def __init__(self, source: Sandboxes) -> None:
        self._source = source
        self._lowered: list[Sandbox] = []
        self._ended = False

    def take(self, lesson: Lesson, configuration: Configuration) -> Sandbox:
        sandbox = self._source.take(lesson, configuration)
        if not self._ended and _add_niceness(sandbox, NICENESS):
            self._lowered.append(sandbox)
        return sandbox

    def release(self, sandbox: Sandbox) -> None:
        self._source.release(sandbox)

    def reference(self) -> Sandbox:
        return self._source.reference()

    def end(self) -> None:
        """Run at normal priority from now on, where the system lets a user go back to it; on an
        idle machine, a low one is no slower."""
        self._ended = True
        while self._lowered:
            _add_niceness(self._lowered.pop(), -NICENESS)


def _add_niceness(sandbox: Sandbox, change: int) -> bool:
    """Change the priority of all of a sandbox's threads, and return whether that was allowed."""
    try:
        # A sandbox is the leader of its own process group.
        before = os.getpriority(os.PRIO_PGRP, sandbox.pid)
        os.setpriority(os.PRIO_PGRP, sandbox.pid, before + change)
    except (OSError, AttributeError) as error:
        _logger.debug("pid %d keeps its priority: %s", sandbox.pid, error)
        return False
    return True
