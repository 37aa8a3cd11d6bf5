"""Single keys from the terminal, without Enter, and without a trace on the way out.

The terminal is changed while keys are read. It is put back when the block ends, however it ends;
when the suspend key stops the program; and while another program needs it, or a line is typed.
"""

import atexit
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Self

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

END = "\x04"
"""What `read` returns for the end-of-file key, and if the terminal is gone."""

_ESCAPE = b"\x1b"


def readable() -> bool:
    """Return whether this is a terminal for people who press keys and watch the screen."""
    people = sys.stdin.isatty() and sys.stdout.isatty()
    return people and termios is not None and os.environ.get("TERM", "dumb") != "dumb"


class Keys:
    """The keys of the terminal on standard input, if it is `readable`. A context manager, for the
    main thread.

    The keys for SIGINT and SIGTSTP keep their meaning. The one for SIGQUIT has none, because that
    signal ends a process before it can put the terminal back.
    """

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._taken = False
        self._before: list[Any] | None = None
        """The terminal's settings to return to; None while they are in effect."""
        self._handlers: dict[int, Any] = {}
        self.typing = False
        """Whether a whole line is typed, instead of single keys."""
        self.resumed = False
        """Whether the program was stopped and goes on since this was last set to False."""

    def __enter__(self) -> Self:
        atexit.register(self._restore)  # a signal may arrive before the block begins
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        self._handlers[signal.SIGCONT] = signal.signal(signal.SIGCONT, self._go_on)
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        atexit.unregister(self._restore)

    def source(self) -> list[int]:
        """Take the terminal, and return the file descriptor that keys come from; none as long as
        another program is in the foreground."""
        if self.typing:
            return [self._fd] if self._in_foreground() else []
        if not self._taken:
            self._take()
        return [self._fd] if self._taken else []

    def read(self) -> str:
        """Return the next key: a character; empty for a key that is not one, such as an arrow."""
        try:
            data = os.read(self._fd, 1)
            if data == _ESCAPE:
                while select.select([self._fd], [], [], 0)[0]:
                    os.read(self._fd, 1)
                return ""
        except OSError:
            return END
        return data.decode("ascii", "ignore") if data else END

    def begin_line(self) -> None:
        """Have a whole line typed, as in a shell: `source` and `read_line` wait for it."""
        self._restore()
        self.typing = True

    def read_line(self) -> str:
        """Return the line that was typed, without blanks around it; empty for end-of-file. Keys are
        read again after it."""
        self.typing = False
        try:
            return os.read(self._fd, 4096).decode(errors="replace").strip()
        except OSError:
            return ""

    def drop_line(self) -> None:
        """Read keys again, and forget what was typed of a line."""
        self.typing = False
        with suppress(OSError, termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Leave the terminal to another program in this block: SIGINT and SIGTSTP are its own."""
        # A function: programs would inherit SIG_IGN.
        interrupt = signal.signal(signal.SIGINT, lambda number, frame: None)
        stop = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            self._restore()
            yield
        finally:
            signal.signal(signal.SIGTSTP, stop)
            signal.signal(signal.SIGINT, interrupt)

    # --- the terminal ------------------------------------------------------------------------

    def _take(self) -> None:
        if not self._in_foreground():
            return  # setting a terminal from the background would stop this process
        try:
            mode = termios.tcgetattr(self._fd)
            if self._before is None:
                self._before = termios.tcgetattr(self._fd)
            mode[3] &= ~(termios.ECHO | termios.ICANON)
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
            mode[6][termios.VQUIT] = bytes([os.fpathconf(self._fd, "PC_VDISABLE")])
            termios.tcsetattr(self._fd, termios.TCSANOW, mode)
            self._taken = True
        except (OSError, termios.error):
            pass  # the terminal is gone; SIGHUP says so

    def _in_foreground(self) -> bool:
        try:
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        except OSError:
            return True  # the terminal is gone, which `read` reports

    def _restore(self) -> None:
        self._taken = False
        before, self._before = self._before, None
        if before is not None:
            with suppress(OSError, termios.error):
                termios.tcsetattr(self._fd, termios.TCSANOW, before)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # returns after SIGCONT
        signal.signal(signal.SIGTSTP, self._stop)

    def _go_on(self, number: int, frame: FrameType | None) -> None:
        self._taken = False  # a shell may have changed the terminal meanwhile
        self.resumed = True
