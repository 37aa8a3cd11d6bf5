"""A terminal for tests: run a command in a pseudo-terminal and emulate the display."""

import os
import re
import signal
import sys
import termios
import time
from collections.abc import Callable
from string import ascii_lowercase
from typing import Self

import pexpect
import pyte

from tests.sandbox.processes import alive
from tests.stopwatch import PATIENCE, Stopwatch
from tutor.ui.actions import ACTIONS

KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "down": "\x1b[B",
    "ctrl+end": "\x1b[1;5F",
    "f3": "\x1bOR",
    "f5": "\x1b[15~",
    "f8": "\x1b[19~",
    **{f"ctrl+{letter}": chr(number) for number, letter in enumerate(ascii_lowercase, 1)},
}
# Sequences of newer terminals that pyte would print instead of ignoring them.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=][0-9;]*u|\x1b\[\?[0-9;]*\$p|\x1b\[>[0-9;]*[a-z]")


GRACE = 1.0
"""Seconds that a command has to end by itself when its terminal is closed."""


class Terminal:
    """A command in a pseudo-terminal of `columns` × `rows`.

    It does not inherit `COLUMNS` and `LINES`, which would count for more than the real size."""

    def __init__(
        self, *command: str, columns: int = 80, rows: int = 24, **environment: str
    ) -> None:
        inherited = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES"}}
        self._display = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._display)
        self._process = pexpect.spawn(
            command[0],
            list(command[1:]),
            dimensions=(rows, columns),
            env={**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment},
            timeout=None,
        )
        self.pid = self._process.pid
        self.raw = b""
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the terminal and wait for the command to end.

        pexpect's own `close` gives up after a third of a second, in which a busy machine may not
        even have ended a killed process."""
        if not self._process.closed:
            self.hang_up()
        watch = Stopwatch()
        while alive(self.pid):
            if watch.seconds > GRACE:
                os.kill(self.pid, signal.SIGKILL)
            assert watch.seconds < PATIENCE, "it did not end"
            time.sleep(0.02)
        self._process.isalive()  # reap it

    def press(self, *keys: str) -> None:
        """Press keys, given by name or by the action's id; type anything else."""
        for key in keys:
            name = ACTIONS[key].key if key in ACTIONS else key
            self._process.send(KEYS.get(name, name))

    @property
    def settings(self) -> list[object]:
        """The terminal's settings, which programs in it can change."""
        return list(termios.tcgetattr(self._process.fileno()))

    @property
    def text(self) -> str:
        """The text on the screen."""
        self._read(0.05)
        return "\n".join(line.rstrip() for line in self._display.display)

    def until(self, condition: str | Callable[[str], bool]) -> str:
        """Wait for a text on the screen, or for a condition on it."""
        watch = Stopwatch()
        while True:
            text = self.text
            if condition in text if isinstance(condition, str) else condition(text):
                return text
            assert watch.seconds < PATIENCE, f"never shown: {condition}\n{text}"
            assert not self._ended, f"it ended before it showed {condition}\n{text}"

    def hang_up(self) -> None:
        """Close the terminal as a window does; pexpect's own `close` also sends signals."""
        self._process.ptyproc.fileobj.close()
        self._process.ptyproc.closed = self._process.closed = True

    def wait(self) -> int:
        """Wait for the command to end, and return its exit code; -N for signal N."""
        watch = Stopwatch()
        while self._process.isalive():
            self._read(0.05)
            assert watch.seconds < PATIENCE, "it did not end"
        if self._process.signalstatus is not None:
            return -int(self._process.signalstatus)
        return int(self._process.exitstatus or 0)

    def interrupt(self) -> None:
        os.kill(self.pid, signal.SIGINT)

    def _read(self, seconds: float) -> None:
        try:
            data = self._process.read_nonblocking(1 << 16, timeout=seconds)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            self._ended = True
            return
        self.raw += data
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))


def jaxtutor(*arguments: str, columns: int = 80, rows: int = 24, **environment: str) -> Terminal:
    command = (sys.executable, "-m", "tutor", *arguments)
    return Terminal(*command, columns=columns, rows=rows, **environment)
