"""Runs in several threads, which can all be stopped at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tutor.engine.sandboxes import Cancel
from tutor.sandbox.process import Cancelled


class Cancels:
    """The `Cancel` of every run in progress."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[Cancel] = set()
        self._stopped = False

    @contextmanager
    def run(self) -> Iterator[Cancel]:
        """Yield what `stop` cancels until the end of this block.

        Raises:
            Cancelled: `stop` was called before.
        """
        cancel = Cancel()
        with self._lock:
            if self._stopped:
                raise Cancelled
            self._running.add(cancel)
        try:
            yield cancel
        finally:
            with self._lock:
                self._running.discard(cancel)

    def stop(self) -> None:
        """Cancel all runs, and refuse others."""
        with self._lock:
            self._stopped = True
            for cancel in self._running:
                cancel.cancel()
