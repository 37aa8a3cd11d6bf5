"""Files as strangers handed them in: a folder, or a zip, neither of which is trusted.

Both list regular files by names relative to their root, with `/`, and read one when asked. Nothing
is unpacked to the disk. What is not a plain file inside the root is told among `problems`.
"""

import errno
import os
import stat
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Protocol, Self, TypeAlias

from tutor.grading.student_names import normalize_name
from tutor.plain_text import one_line
from tutor.zips import DAMAGE, content, danger_in

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

A_LINK = "a link, or in a folder that is one; put the file itself there"
TOO_DEEP = f"more than {MAX_DEPTH} folders deep; move it up"

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_FILE = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)

Identity: TypeAlias = tuple[int, int]
"""What tells a file from all others: its file system, and its number there."""

_END = b"PK\x05\x06"
_END_BYTES = 22
_COMMENT = 1 << 16


class Unusable(Exception):
    """These are no submissions at all; the message says why, and what to do."""


class Unreadable(Exception):
    """A file that was listed cannot be read; the message says why."""


class Files(Protocol):
    """`folders` are all that there are, by name; `shared` says of files that have another name on
    this disk, too, which they are: a hard link may be to somebody else's."""

    path: Path
    name: str
    zipped: bool
    problems: list[str]
    folders: set[str]
    shared: dict[str, Identity]

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def names(self) -> list[str]:
        """Return the names of all files, sorted.

        Raises:
            Unusable: there are too many, or they cannot be listed.
        """

    def read(self, name: str) -> bytes:
        """Return what a file holds.

        Raises:
            Unreadable: it cannot be read, or is too large.
        """


class FolderFiles:
    """A folder. No link is followed: what it leads to may be another student's, or the grader's.

    Each file is opened from the folder on, one directory after the other, so that what was looked
    at is what is read, whatever is put in its place meanwhile.
    """

    zipped = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.resolve().name
        self.problems: list[str] = []
        self.folders: set[str] = set()
        self.shared: dict[str, Identity] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def names(self) -> list[str]:
        """See `Files`."""
        found: list[str] = []
        try:
            root = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise Unusable(f"{self.path}: {error.strerror}") from None
        try:
            for name in self._below(root, "", 1):
                found.append(name)
                if len(found) + len(self.folders) > MAX_FILES:
                    raise Unusable(_too_many(str(self.path)))
        finally:
            os.close(root)
        return sorted(found)

    def _below(self, here: int, folder: str, depth: int) -> Iterator[str]:
        try:
            with os.scandir(here) as listed:
                entries = sorted(islice(listed, MAX_FILES + 1), key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(f"{folder or self.name}: {error.strerror}")
            return
        if len(entries) > MAX_FILES:
            raise Unusable(_too_many(str(self.path)))
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if ignored(entry.name):
                continue
            if fault := fault_of_name(name):
                self.problems.append(f"{name}: {fault}")
            elif entry.is_dir(follow_symlinks=False):
                self.folders.add(name)
                yield from self._in(here, name, entry.name, depth)
            elif fault := self._danger(name, entry):
                self.problems.append(f"{name}: {fault}")
            else:
                yield name

    def _in(self, above: int, name: str, last: str, depth: int) -> Iterator[str]:
        if depth >= MAX_DEPTH:
            self.problems.append(f"{name}: {TOO_DEEP}")
            return
        try:
            here = os.open(last, _DIRECTORY, dir_fd=above)
        except OSError as error:
            self.problems.append(f"{name}: {_why(error)}")
            return
        try:
            yield from self._below(here, name, depth + 1)
        finally:
            os.close(here)

    def _danger(self, name: str, entry: "os.DirEntry[str]") -> str | None:
        if entry.is_symlink():
            return A_LINK
        if not entry.is_file():
            return "not a regular file"
        about = entry.stat(follow_symlinks=False)
        if about.st_nlink > 1:
            self.shared[name] = about.st_dev, about.st_ino
        return None

    def read(self, name: str) -> bytes:
        """See `Files`."""
        return read_below(self.path, self.shared, name)


class ZipFiles:
    """A zip."""

    zipped = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.stem
        self.problems: list[str] = []
        self.folders: set[str] = set()
        self.shared: dict[str, Identity] = {}
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
            name = member.orig_filename.replace("\\", "/")  # as some programs of Windows write it
            folder = name.endswith("/")
            name = name.rstrip("/")
            parts = name.split("/")
            if any(ignored(part) for part in parts if part != ".."):
                continue
            fault = fault_of_name(name) or (TOO_DEEP if len(parts) > MAX_DEPTH else None)
            if fault is None:
                depths = range(1, len(parts) + folder)
                self.folders.update("/".join(parts[:depth]) for depth in depths)
                if len(self.folders) > MAX_FILES:
                    raise Unusable(_too_many(str(self.path)))
            if folder and fault is None:
                continue
            if fault := fault or danger_in(member, MAX_BYTES):
                self.problems.append(f"{name}: {fault}")
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
    """Return what a regular file of the grader's own holds; it may be reached through links.

    Raises:
        Unreadable: it is none, cannot be read, or is larger than `MAX_BYTES`.
    """
    try:
        descriptor = os.open(path, _FILE & ~_NOFOLLOW)
    except OSError as error:
        raise Unreadable(f"{shown_as}: {error.strerror}") from None
    try:
        return _content(descriptor, shown_as)
    finally:
        os.close(descriptor)


@contextmanager
def opened(folder: Path, name: str) -> Iterator[int]:
    """Open a file of a student's, one directory after the other from `folder` on; yields a
    descriptor. The folder is the grader's, and may be reached through links.

    Raises:
        Unreadable: there is none, it leads out of the folder, or there is a link on the way.
    """
    if fault := fault_of_name(name):
        raise Unreadable(f"{name}: {fault}")
    here = -1
    try:
        here = os.open(folder, os.O_RDONLY)
        *above, last = name.split("/")
        for part, how in [*((part, _DIRECTORY) for part in above), (last, _FILE)]:
            below = os.open(part, how, dir_fd=here)
            os.close(here)
            here = below
    except OSError as error:
        if here >= 0:
            os.close(here)
        raise Unreadable(f"{name}: {_why(error)}") from None
    try:
        yield here
    finally:
        os.close(here)


def read_below(folder: Path, shared: Mapping[str, Identity], name: str) -> bytes:
    """Return what a student's file holds.

    **Arguments:** `shared`: the files that had another name, too, when they were looked at.

    Raises:
        Unreadable: see `opened`; or it is another file than then, and may be somebody else's.
    """
    with opened(folder, name) as descriptor:
        about = os.fstat(descriptor)
        if about.st_nlink > 1 and shared.get(name) != (about.st_dev, about.st_ino):
            raise Unreadable(f"{name}: became a hard link meanwhile; grade it again")
        return _content(descriptor, name)


def _why(error: OSError) -> str:
    # Linux says of a link where a directory is wanted that it is none.
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return A_LINK
    return error.strerror or str(error)


def _content(descriptor: int, shown_as: str) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a pipe may never be written to
            raise Unreadable(f"{shown_as}: not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
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
    """Return why nobody's submission can be called this: what cannot be shown cannot be told
    either."""
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in name):
        return "a character in the name that cannot be shown; rename it"
    parts = name.split("/")
    if ".." in parts or "" in parts:
        return "a name that leads out of the submissions"
    if not all(map(normalize_name, parts)):
        return "a name that cannot be seen; rename it"
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
