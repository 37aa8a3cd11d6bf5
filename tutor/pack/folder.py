"""A pack's folder: its files as bytes, and their names as messages give them."""

import os
import stat
from pathlib import Path
from typing import TypeAlias

from tutor.pack.problems import BadSource, Problem

MANIFEST = "pack.yaml"
MAX_BYTES = 1 << 20
"""Of one file."""

Stamp: TypeAlias = tuple[int, int, int]
"""Changes whenever a file does: when it was written, when anything about it changed (which no
program can set back), both in nanoseconds, and its size in bytes."""


class Folder:
    """Reads files below `root`, and nothing that is not below it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real = os.path.realpath(root)

    def read(self, file: str) -> bytes:
        """What a file holds.

        Raises:
            BadSource: it is not below the root, no regular file, too large or not to be read.
        """
        path = os.path.join(self.root, file)  # noqa: PTH118 - thousands of them, one by one
        # realpath, for resolve() raises where links form a circle.
        if not os.path.realpath(path).startswith(os.path.join(self._real, "")):  # noqa: PTH118
            remedy = "put the file itself here"
            raise BadSource(self.problem(file, "a link that leads out of the pack", remedy=remedy))
        return read_bytes(Path(path), self.shown(file))

    def stamp(self, file: str) -> Stamp | None:
        """What tells this version of a file from others; None if there is none."""
        try:
            found = os.stat(f"{self.root}{os.sep}{file}")  # noqa: PTH116 - as above
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size

    def problem(
        self, file: str, message: str, line: int = 1, column: int = 1, remedy: str = ""
    ) -> Problem:
        return Problem(self.shown(file), line, column, message, remedy)

    def shown(self, file: str) -> str:
        """A file as messages name it: from here if it lies below, else in full."""
        path = self.root / file
        try:
            return str(path.absolute().relative_to(Path.cwd()))
        except (ValueError, OSError):
            return str(path)


def read_bytes(path: Path, shown_as: str) -> bytes:
    """What a file holds. **Arguments:** `shown_as`: how messages name it.

    Raises:
        BadSource: no regular file, too large, or not to be read.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            remedy = "put a file of this name in its place"
            raise BadSource(Problem(shown_as, 1, 1, "not a file", remedy))
        if found.st_size > MAX_BYTES:
            raise too_large(shown_as, found.st_size)
        return path.read_bytes()
    except OSError as error:
        remedy = "look at its permissions"
        if isinstance(error, FileNotFoundError):
            remedy = "name a folder that has one, or make a pack: jaxtutor pack new DIR"
        message = f"cannot be read: {error.strerror}"
        raise BadSource(Problem(shown_as, 1, 1, message, remedy)) from None


def too_large(shown_as: str, size: int) -> BadSource:
    message = f"the file has {size:,} bytes; at most {MAX_BYTES:,} are read"
    return BadSource(Problem(shown_as, 1, 1, message, "split it, or leave data out of it"))
