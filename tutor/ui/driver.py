"""A terminal driver with which the app ends even if its terminal has closed."""

from contextlib import suppress
from io import TextIOWrapper
from typing import Any, TextIO, cast

from textual.drivers.linux_driver import LinuxDriver


class QuietFile:
    """A file for output; writing to it raises no OSError."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()

    def fileno(self) -> int:
        return self._file.fileno()


class QuietDriver(LinuxDriver):
    """Textual's driver without errors of output.

    The first one would end Textual's writer thread. The thread's queue then fills up, and the app
    waits forever for room in it instead of ending.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if self._file is not None:
            self._file = cast(TextIOWrapper, QuietFile(self._file))
