"""Files as strangers handed them in: a folder, or a zip, neither of which is trusted.

Both list regular files by names relative to their root, with `/`, and read one when asked. Nothing
is unpacked to the disk. What is not a plain file inside the root is told among `problems`.
"""

import os
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, Self

from tutor.pack.archive import DAMAGE, content, danger_in
from tutor.sandbox.output import one_line

MAX_FILES = 200_000
MAX_DEPTH = 12
MAX_ARCHIVE = 4 << 30
MAX_DIRECTORY = 64 << 20
"""Bytes of a zip's own list of files, which zipfile reads as a whole: of about 500,000 files."""

MAX_BYTES = 32 << 20
"""Of one file. Code is held to less, but a notebook may hold pictures."""

_OTHERS = ("__macosx", "__pycache__", "node_modules", "site-packages", "venv")
"""Folders that programs make, and in which nobody's submission is; those that begin with a dot,
too."""

_END = b"PK\x05\x06"
_END_BYTES = 22
_COMMENT = 1 << 16


class Unusable(Exception):
    """These are no submissions at all; the message says why, and what to do."""


class Unreadable(Exception):
    """A file that was listed cannot be read; the message says why."""


class Files(Protocol):
    """`folders` are those at the top."""

    name: str
    zipped: bool
    problems: list[str]
    folders: set[str]

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def names(self) -> list[str]:
        """Of all files, sorted.

        Raises:
            Unusable: there are too many, or they cannot be listed.
        """

    def read(self, name: str) -> bytes:
        """What a file holds.

        Raises:
            Unreadable: it cannot be read, or is too large.
        """


class FolderFiles:
    """A folder. Links are followed only to files inside of it: one that leads out of it would have
    the grader read for a student what the student may not."""

    zipped = False

    def __init__(self, root: Path) -> None:
        self.root = root
        self.name = root.resolve().name
        self.problems: list[str] = []
        self.folders: set[str] = set()
        self._real = os.path.realpath(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def names(self) -> list[str]:
        """See `Files`."""
        found: list[str] = []
        for name in self._below("", 1):
            found.append(name)
            if len(found) > MAX_FILES:
                raise Unusable(_too_many(str(self.root)))
        return sorted(found)

    def _below(self, folder: str, depth: int) -> Iterator[str]:
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(f"{one_line(folder or self.name)}: {error.strerror}")
            return
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if ignored(entry.name):
                continue
            if fault := fault_of_name(name):
                self.problems.append(f"{one_line(name)}: {fault}")
            elif entry.is_dir(follow_symlinks=False):
                if depth == 1:
                    self.folders.add(name)
                if depth >= MAX_DEPTH:
                    self.problems.append(f"{name}: more than {MAX_DEPTH} folders deep; move it up")
                else:
                    yield from self._below(name, depth + 1)
            elif fault := self._danger(name, entry):
                self.problems.append(f"{name}: {fault}")
            else:
                yield name

    def _danger(self, name: str, entry: "os.DirEntry[str]") -> str | None:
        if entry.is_symlink():
            real = os.path.realpath(self.root / name)
            if not real.startswith(os.path.join(self._real, "")):  # noqa: PTH118 - of realpath's
                return "a link that leads out of the submissions; put the file itself there"
            if not Path(real).is_file():
                return "a link to no file; put the file itself there"
        elif not entry.is_file():
            return "not a regular file"
        return None

    def read(self, name: str) -> bytes:
        """See `Files`."""
        real = os.path.realpath(self.root / name)  # looked at again: it may have changed meanwhile
        if not real.startswith(os.path.join(self._real, "")):  # noqa: PTH118
            raise Unreadable(f"{name}: a link that leads out of the submissions")
        return read_file(Path(real), name)


class ZipFiles:
    """A zip."""

    zipped = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.stem
        self.problems: list[str] = []
        self.folders: set[str] = set()
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._archive: zipfile.ZipFile | None = None

    def __enter__(self) -> Self:
        try:
            _refuse_large(self.path)
            self._archive = zipfile.ZipFile(self.path)
        except DAMAGE as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            message = f"{self.path}: damaged, or no zip: {one_line(why or str(error))}"
            raise Unusable(f"{message}; download it again") from None
        return self

    def __exit__(self, *exception: object) -> None:
        if self._archive is not None:
            self._archive.close()

    def names(self) -> list[str]:
        """See `Files`."""
        assert self._archive is not None
        members = self._archive.infolist()
        if len(members) > MAX_FILES:
            raise Unusable(_too_many(str(self.path)))
        for member in members:
            name = member.orig_filename.replace("\\", "/")
            parts = name.rstrip("/").split("/")
            if any(ignored(part) for part in parts if part != ".."):
                continue
            if len(parts) > 1 or name.endswith("/"):
                self.folders.add(parts[0])
            if name.endswith("/"):
                continue
            if fault := fault_of_name(name) or danger_in(member, MAX_BYTES):
                self.problems.append(f"{one_line(name)}: {fault}")
            elif name in self._members:
                self.problems.append(f"{name}: twice in the zip; only the first is looked at")
            else:
                self._members[name] = member
        return sorted(self._members)

    def read(self, name: str) -> bytes:
        """See `Files`."""
        assert self._archive is not None
        try:
            data = content(self._archive, self._members[name], MAX_BYTES)
        except DAMAGE as error:
            raise Unreadable(f"{name}: damaged in the zip: {one_line(str(error))}") from None
        if len(data) > MAX_BYTES:
            raise Unreadable(f"{name}: more than {MAX_BYTES:,} bytes")
        return data


def read_file(path: Path, shown_as: str) -> bytes:
    """What a regular file holds.

    Raises:
        Unreadable: it is none, cannot be read, or is larger than `MAX_BYTES`.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe may never be written to
            raise Unreadable(f"{shown_as}: not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"{shown_as}: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{shown_as}: larger than {MAX_BYTES >> 20} MiB")
    return data


def ignored(part: str) -> bool:
    """Whether a part of a name is one that programs leave lying about."""
    return part.startswith(".") or part.casefold() in _OTHERS


def fault_of_name(name: str) -> str | None:
    """Why nobody's submission can be called this: what cannot be shown cannot be told either."""
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in name):
        return "a character in the name that cannot be shown; rename it"
    if name.startswith("/") or ".." in name.split("/") or "" in name.split("/"):
        return "a name that leads out of the submissions"
    return None


def _too_many(name: str) -> str:
    return f"{name}: more than {MAX_FILES:,} files; grade them in parts"


def _refuse_large(path: Path) -> None:
    """Before zipfile makes an object for each of a million entries."""
    size = path.stat().st_size
    if size > MAX_ARCHIVE:
        raise Unusable(f"{path}: larger than {MAX_ARCHIVE >> 30} GiB; grade it in parts")
    with path.open("rb") as file:
        file.seek(max(0, size - _COMMENT - _END_BYTES))
        tail = file.read()
    if (at := tail.rfind(_END)) < 0:
        raise zipfile.BadZipFile("no list of files at its end")
    if int.from_bytes(tail[at + 12 : at + 16], "little") > MAX_DIRECTORY:
        raise Unusable(_too_many(str(path)))
