"""Waiting with a timeout on a busy machine.

Time counts only while a core is idle: otherwise other work may be the reason for the delay.
"""

import os
import time
from collections.abc import Callable
from typing import TypeVar

from tutor.sandbox.watchdog import idle_seconds

T = TypeVar("T")

PATIENCE = float(os.environ.get("JAXTUTOR_TEST_PATIENCE", "60"))
"""Timeout in seconds on an idle machine; less in runs in which many tests are expected to fail."""

GUARD = 20 * PATIENCE
"""Wall-clock seconds after which a command counts as hanging. Tests never rely on it."""


class Stopwatch:
    """Starts when created."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._idle = idle_seconds()

    @property
    def seconds(self) -> float:
        """Seconds since the start with an idle core, or the wall clock's share of `GUARD` if
        larger."""
        wall, idle = time.monotonic() - self._began, idle_seconds()
        if idle is None or self._idle is None:
            return wall
        return min(wall, max(idle - self._idle, wall * PATIENCE / GUARD))


def until(condition: Callable[[], T], what: str = "it", every: float = 0.01) -> T:
    """Wait for a condition; return its first true value."""
    watch = Stopwatch()
    while not (found := condition()):
        assert watch.seconds < PATIENCE, f"never happened: {what}"
        time.sleep(every)
    return found
