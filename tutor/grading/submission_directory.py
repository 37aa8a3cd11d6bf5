"""Submitted files in a directory.

No link is followed, because it may lead to another student's files, or the grader's. Each file is
opened one directory at a time, starting from the root, so the file that was checked is the file
that is read, even if it is replaced meanwhile.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Self

from tutor.grading.submission_files import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_FILES,
    TOO_DEEP,
    Identity,
    Unreadable,
    Unusable,
    is_ignored,
    name_fault,
    too_many,
)

LINK = "a symbolic link, or in a linked directory; replace it with the file itself"

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_FILE = os.O_RDONLY | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


class DirectoryFiles:
    """See `SubmissionFiles`."""

    zipped = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.resolve().name
        self.problems: list[str] = []
        self.folders: set[str] = set()
        self.hard_linked: dict[str, Identity] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def names(self) -> list[str]:
        """See `SubmissionFiles`."""
        names: list[str] = []
        try:
            root = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise Unusable(f"{self.path}: {error.strerror}") from None
        try:
            for name in self._walk(root, "", 1):
                names.append(name)
                if len(names) + len(self.folders) > MAX_FILES:
                    raise too_many(self.path)
        finally:
            os.close(root)
        return sorted(names)

    def _walk(self, directory: int, folder: str, depth: int) -> Iterator[str]:
        try:
            with os.scandir(directory) as listing:
                entries = sorted(islice(listing, MAX_FILES + 1), key=lambda entry: entry.name)
        except OSError as error:
            self.problems.append(f"{folder or self.name}: {error.strerror}")
            return
        if len(entries) > MAX_FILES:
            raise too_many(self.path)
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if is_ignored(entry.name):
                continue
            if fault := name_fault(name):
                self.problems.append(f"{name}: {fault}")
            elif entry.is_dir(follow_symlinks=False):
                self.folders.add(name)
                yield from self._walk_folder(directory, name, entry.name, depth)
            elif fault := self._entry_fault(name, entry):
                self.problems.append(f"{name}: {fault}")
            else:
                yield name

    def _walk_folder(self, parent: int, name: str, last: str, depth: int) -> Iterator[str]:
        if depth >= MAX_DEPTH:
            self.problems.append(f"{name}: {TOO_DEEP}")
            return
        try:
            directory = os.open(last, _DIRECTORY, dir_fd=parent)
        except OSError as error:
            self.problems.append(f"{name}: {_reason(error)}")
            return
        try:
            yield from self._walk(directory, name, depth + 1)
        finally:
            os.close(directory)

    def _entry_fault(self, name: str, entry: "os.DirEntry[str]") -> str | None:
        if entry.is_symlink():
            return LINK
        if not entry.is_file():
            return "not a regular file"
        status = entry.stat(follow_symlinks=False)
        if status.st_nlink > 1:
            self.hard_linked[name] = status.st_dev, status.st_ino
        return None

    def read(self, name: str) -> bytes:
        """See `SubmissionFiles`."""
        return read_below(self.path, self.hard_linked, name)


def read_trusted_file(path: Path, shown_as: str) -> bytes:
    """Return the contents of a regular file of the grader's, following links.

    Raises:
        Unreadable: not a regular file, not readable, or larger than `MAX_BYTES`.
    """
    try:
        descriptor = os.open(path, _FILE & ~_NOFOLLOW)
    except OSError as error:
        raise Unreadable(f"{shown_as}: {error.strerror}") from None
    try:
        return _read(descriptor, shown_as)
    finally:
        os.close(descriptor)


@contextmanager
def open_below(folder: Path, name: str) -> Iterator[int]:
    """Open a student's file below `folder` and yield its descriptor. The path of `folder` itself is
    the grader's and may contain links.

    Raises:
        Unreadable: no such file, a path outside `folder`, or a link on the way.
    """
    if fault := name_fault(name):
        raise Unreadable(f"{name}: {fault}")
    descriptor = -1
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        *parents, last = name.split("/")
        for part, flags in [*((part, _DIRECTORY) for part in parents), (last, _FILE)]:
            below = os.open(part, flags, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
    except OSError as error:
        if descriptor >= 0:
            os.close(descriptor)
        raise Unreadable(f"{name}: {_reason(error)}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_below(folder: Path, hard_linked: Mapping[str, Identity], name: str) -> bytes:
    """Return the contents of a student's file.

    **Arguments:** `hard_linked`: the hard links found when the files were listed.

    Raises:
        Unreadable: see `open_below`; or the file has since become a hard link, perhaps to another
            student's.
    """
    with open_below(folder, name) as descriptor:
        status = os.fstat(descriptor)
        if status.st_nlink > 1 and hard_linked.get(name) != (status.st_dev, status.st_ino):
            raise Unreadable(f"{name}: became a hard link during grading; grade it again")
        return _read(descriptor, name)


def _reason(error: OSError) -> str:
    # Linux reports ENOTDIR for a link where a directory is expected.
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return LINK
    return error.strerror or str(error)


def _read(descriptor: int, shown_as: str) -> bytes:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # reading a pipe may never end
            raise Unreadable(f"{shown_as}: not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"{shown_as}: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{shown_as}: larger than {MAX_BYTES >> 20} MiB")
    return data
