"""Clean up on SIGTERM and SIGHUP as on Ctrl-C: sandboxes end, and their directories are removed."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

INTERRUPTED, INTERNAL = 130, 3

AGAIN_SECONDS = 0.01
"""Until a signal is sent again that Python has dropped."""


class Stopped(KeyboardInterrupt):
    """A signal arrived; `code` is the exit code by which shells know that."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextmanager
def stopping() -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise `Stopped` in this block, unless they are ignored (`nohup`) or
    handled already."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    named = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
    ours = [one for one in named if one is not None and signal.getsignal(one) is signal.SIG_DFL]

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        for one in ours:  # a closing terminal sends both; the second must not interrupt cleanup
            signal.signal(one, signal.SIG_IGN)
        raise Stopped(number)

    def listen() -> None:
        for one in ours:
            signal.signal(one, stop)

    def on_unraisable(lost: "sys.UnraisableHookArgs") -> None:
        # Python drops what is raised in a `__del__` or in a callback, such as one of an import.
        if isinstance(lost.exc_value, Stopped):
            listen()
            again = os.getpid(), lost.exc_value.code - 128
            threading.Timer(AGAIN_SECONDS, os.kill, again).start()
        else:
            hook(lost)

    hook = sys.unraisablehook
    sys.unraisablehook = on_unraisable
    listen()
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for one in ours:
            signal.signal(one, signal.SIG_DFL)


def exit_code_of(interrupt: KeyboardInterrupt) -> int:
    return interrupt.code if isinstance(interrupt, Stopped) else INTERRUPTED


def exit_code_of_app(returned: int | None) -> int:
    """Return 0, or the signal's code; anything else that an app returns is an internal error."""
    return returned if returned is not None and not 0 < returned < 128 else INTERNAL
