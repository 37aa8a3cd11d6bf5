"""Events from other threads, for a loop that waits for the terminal, too."""

import select
import socket
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

Event = TypeVar("Event")


class Inbox(Generic[Event]):
    """A queue that `select` can wait for. `put` can be called in any thread."""

    def __init__(self) -> None:
        self._events: SimpleQueue[Event] = SimpleQueue()
        # Not a pipe: on Windows, `select` accepts only sockets.
        self._bell, self._button = socket.socketpair()
        self._bell.setblocking(False)
        self._button.setblocking(False)

    def close(self) -> None:
        self._bell.close()
        self._button.close()

    def put(self, event: Event) -> None:
        self._events.put(event)
        with suppress(OSError):  # it is full, so that it rings anyway; or the loop has ended
            self._button.send(b"!")

    def wait(self, sources: Sequence[int], seconds: float) -> tuple[list[Event], bool]:
        """Wait for an event, or until a file descriptor can be read.

        **Returns:** the events that have arrived, and whether a file descriptor can be read.
        """
        bell = self._bell.fileno()
        ready, _, _ = select.select([bell, *sources], [], [], seconds)
        if bell in ready:
            with suppress(BlockingIOError):
                while self._bell.recv(4096):
                    pass
        events = []
        with suppress(Empty):
            while True:
                events.append(self._events.get_nowait())
        return events, any(one != bell for one in ready)
