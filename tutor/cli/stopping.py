"""Stopping in order when a signal asks for it, as on Ctrl-C: sandboxes and their folders go."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

INTERRUPTED, OUR_FAULT = 130, 3


class Stopped(KeyboardInterrupt):
    """A signal has asked for an end; `code` is what shells expect to be returned then."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number


@contextmanager
def stopping() -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise `Stopped` in this block, unless somebody ignores or handles
    them already, as `nohup` does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    named = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
    ours = [one for one in named if one is not None and signal.getsignal(one) is signal.SIG_DFL]

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        for one in ours:  # a terminal that closes sends both; nothing interrupts tidying up
            signal.signal(one, signal.SIG_IGN)
        raise Stopped(number)

    for one in ours:
        signal.signal(one, stop)
    try:
        yield
    finally:
        for one in ours:
            signal.signal(one, signal.SIG_DFL)


def code_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code for what has stopped a command."""
    return interrupt.code if isinstance(interrupt, Stopped) else INTERRUPTED


def code_of_app(returned: int | None) -> int:
    """Return the exit code for an app that has ended: 0, or the signal's; anything else is our
    fault."""
    return returned if returned is not None and not 0 < returned < 128 else OUR_FAULT


def tell(message: str = "") -> None:
    """Print to standard error, if anybody still reads it: a terminal may be closed by now."""
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)
