"""Reading the files of a pack's directory, and naming them in messages."""

import os
import stat
from pathlib import Path
from typing import TypeAlias

from tutor.pack.problems import BadSource, Problem

MANIFEST = "pack.yaml"
MAX_BYTES = 1 << 20
"""Limit of one file."""

Stamp: TypeAlias = tuple[int, int, int]
"""Identifies a version of a file: mtime and ctime (which programs cannot set back) in nanoseconds,
and size in bytes."""


class Folder:
    """Reads files below `root`, and no others."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real = os.path.realpath(root)

    def read(self, file: str) -> bytes:
        """Return a file's contents.

        Raises:
            BadSource: it is outside the root, not a regular file, too large or unreadable.
        """
        path = os.path.join(self.root, file)  # noqa: PTH118 - thousands of them, one by one
        # realpath: resolve() raises on circular links.
        if not os.path.realpath(path).startswith(os.path.join(self._real, "")):  # noqa: PTH118
            remedy = "replace it with a copy of the file"
            message = "a symbolic link that points outside the pack"
            raise BadSource(self.problem(file, message, remedy=remedy))
        return read_bytes(Path(path), self.shown(file))

    def stamp(self, file: str) -> Stamp | None:
        """Return the stamp of a file; None if it does not exist."""
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
        """Return a file's name in messages: relative to the working directory if below it."""
        path = self.root / file
        try:
            return str(path.absolute().relative_to(Path.cwd()))
        except (ValueError, OSError):
            return str(path)


def read_bytes(path: Path, shown_as: str) -> bytes:
    """Return a file's contents. **Arguments:** `shown_as`: its name in messages.

    Raises:
        BadSource: it is not a regular file, too large or unreadable.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            remedy = "replace it with a regular file"
            raise BadSource(Problem(shown_as, 1, 1, "not a regular file", remedy))
        if found.st_size > MAX_BYTES:
            raise too_large(shown_as, found.st_size)
        return path.read_bytes()
    except OSError as error:
        remedy = "check its permissions"
        if isinstance(error, FileNotFoundError):
            remedy = "choose a directory that has one, or create a pack: jaxtutor pack new DIR"
        message = f"cannot be read: {error.strerror}"
        raise BadSource(Problem(shown_as, 1, 1, message, remedy)) from None


def too_large(shown_as: str, size: int) -> BadSource:
    message = f"the file must be at most {MAX_BYTES:,} bytes, got {size:,}"
    return BadSource(Problem(shown_as, 1, 1, message, "split it, or remove data from it"))
