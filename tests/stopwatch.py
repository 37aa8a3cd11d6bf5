"""Waiting for something, on a machine that may be doing other things as well.

How long it takes says nothing there, so time counts only while a core is idle: nobody keeps the
machine from what is waited for then.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from tutor.sandbox.watchdog import idle_seconds

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds that anything may take on an idle machine."""

GUARD = 20 * PATIENCE
"""Seconds by the wall clock after which a command is taken to hang. No test passes by it."""


class Stopwatch:
    """Started when it is made."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._idle = idle_seconds()

    @property
    def seconds(self) -> float:
        """Since the start, with a core to spare. In the end the wall clock decides."""
        wall, idle = time.monotonic() - self._began, idle_seconds()
        if idle is None or self._idle is None:
            return wall
        return min(wall, max(idle - self._idle, wall * PATIENCE / GUARD))


def until(condition: Callable[[], T], what: str = "it", every: float = 0.01) -> T:
    """The first true value of a condition."""
    watch = Stopwatch()
    while not (found := condition()):
        assert watch.seconds < PATIENCE, f"never happened: {what}"
        time.sleep(every)
    return found
