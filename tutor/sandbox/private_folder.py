"""Count and remove the contents of a worker's private directory, from the main process.

The worker chooses names, depth and permissions, and may be writing meanwhile. So nothing here
recurses, builds a path (the system allows 4,096 bytes) or follows a link: each step goes from one
open directory to the next. At most three descriptors are open, at any depth.
"""

import os
import stat
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_TRIES = 5


class Entry(NamedTuple):
    """A file or directory. `parent` is an open descriptor of its directory, valid until the walk
    continues. A directory is yielded twice: with `about` before its contents, with None after."""

    parent: int
    name: str
    about: os.stat_result | None


class Moved(Exception):
    """A directory was moved while the walk was in it."""


class _Level(NamedTuple):
    """A directory on the way down: its identity, its name, and the directories left to visit."""

    identity: tuple[int, int]
    name: str
    left: list[str]


def walk(folder: Path) -> Generator[Entry, None, None]:
    """Yield everything in `folder`, and give its owner access to each directory in it. Raises:
    Moved: the walk has to be repeated."""
    try:
        here = os.open(folder, os.O_RDONLY | _DIRECTORY)
    except OSError:
        return  # already gone
    levels = [_Level(_identity(here), "", [])]
    try:
        yield from _listed(here, levels[-1].left)
        while True:
            if levels[-1].left:
                name = levels[-1].left.pop()
                try:
                    below = _opened(name, here)
                except OSError:
                    continue  # gone meanwhile, or replaced by a link
                os.close(here)
                here = below
                levels.append(_Level(_identity(here), name, []))
                yield from _listed(here, levels[-1].left)
            elif len(levels) > 1:
                done = levels.pop()
                try:
                    above = os.open("..", os.O_RDONLY | _DIRECTORY, dir_fd=here)
                except OSError:
                    raise Moved from None
                os.close(here)
                here = above
                if _identity(here) != levels[-1].identity:
                    raise Moved
                yield Entry(here, done.name, None)
            else:
                return
    finally:
        os.close(here)


def exceeds(folder: Path, disk_mb: int, files: int) -> bool:
    """Return whether `folder` holds more than so many files or MiB, walking no further than
    necessary."""
    for _ in range(_TRIES):
        with suppress(Moved), closing(walk(folder)) as entries:
            used = count = 0
            for entry in entries:
                if entry.about is None:
                    continue
                count += 1
                used += entry.about.st_blocks << 9
                if count > files or used > disk_mb << 20:
                    return True
            return False
    return True  # honest code does not keep moving directories


def remove(folder: Path) -> None:
    """Remove `folder` and its contents. Raises nothing; leaves what cannot be removed."""
    for _ in range(_TRIES):
        with suppress(Moved):
            for parent, name, about in walk(folder):
                with suppress(OSError):
                    if about is None:
                        os.rmdir(name, dir_fd=parent)
                    elif not stat.S_ISDIR(about.st_mode):
                        os.unlink(name, dir_fd=parent)
        with suppress(OSError):
            folder.rmdir()
        if not os.path.lexists(folder):
            return


def _listed(here: int, directories: list[str]) -> Iterator[Entry]:
    """Yield the entries of a directory; add the names of its directories to `directories`."""
    # A directory that cannot be listed is skipped.
    with suppress(OSError), os.scandir(here) as entries:
        for entry in entries:
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            if stat.S_ISDIR(about.st_mode):
                directories.append(entry.name)
            yield Entry(here, entry.name, about)


def _opened(name: str, parent: int) -> int:
    """Open a directory that may have been made without permissions. Raises: OSError: there is no
    such directory any more."""
    try:
        directory = os.open(name, os.O_RDONLY | _DIRECTORY, dir_fd=parent)
    except PermissionError:
        _permit(name, parent)
        directory = os.open(name, os.O_RDONLY | _DIRECTORY, dir_fd=parent)
    if os.fstat(directory).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        with suppress(OSError):  # another owner's
            os.fchmod(directory, stat.S_IRWXU)
    return directory


def _permit(name: str, parent: int) -> None:
    if sys.platform != "linux":
        os.chmod(name, stat.S_IRWXU, dir_fd=parent, follow_symlinks=False)
        return
    # chmod follows links, and the name may be one by now. This descriptor is of a directory.
    descriptor = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{descriptor}", stat.S_IRWXU)  # noqa: PTH101 - not a real path
    finally:
        os.close(descriptor)


def _identity(directory: int) -> tuple[int, int]:
    about = os.fstat(directory)
    return about.st_dev, about.st_ino
