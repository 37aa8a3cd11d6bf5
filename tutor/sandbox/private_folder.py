"""A worker's private folder, as the main process counts and removes what is in it.

The worker chooses names, depth and permissions, and may be writing meanwhile. So nothing here calls
itself, builds a path (the system takes 4,096 bytes of one) or follows a link: each step goes from
one open directory to the next. At most three descriptors are open, however deep it is.
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
    """Something in the folder. `parent` is an open descriptor of the directory that it is in, for
    as long as the walk stands here. A directory comes twice: with `about` before what is in it, and
    with None after it."""

    parent: int
    name: str
    about: os.stat_result | None


class Moved(Exception):
    """A directory was moved while the walk was in it."""


class _Level(NamedTuple):
    """A directory on the way down: which one, its name, and its directories still to be seen."""

    identity: tuple[int, int]
    name: str
    left: list[str]


def walk(folder: Path) -> Generator[Entry, None, None]:
    """Yield everything in `folder`, and give its owner access to each directory in it.

    Raises:
        Moved: see there; it has to be done again.
    """
    try:
        here = os.open(folder, os.O_RDONLY | _DIRECTORY)
    except OSError:
        return  # it is gone already
    levels = [_Level(_identity(here), "", [])]
    try:
        yield from _listed(here, levels[-1].left)
        while True:
            if levels[-1].left:
                name = levels[-1].left.pop()
                try:
                    below = _opened(name, here)
                except OSError:
                    continue  # gone meanwhile, or a link by now
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
    """Return whether more than so many files, or MiB on the disk, are in `folder`. Looks at no
    more than it takes to know."""
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
    return True  # only code that hides something keeps moving directories


def remove(folder: Path) -> None:
    """Remove `folder` with all that is in it. Raises nothing: what cannot be removed stays."""
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
    """Yield what is in a directory; add the names of its directories to `directories`."""
    # Nothing is done with a directory that cannot be listed: nobody can read it then.
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
    """Open a directory that may have been made without permissions.

    Raises:
        OSError: there is no such directory any more.
    """
    try:
        found = os.open(name, os.O_RDONLY | _DIRECTORY, dir_fd=parent)
    except PermissionError:
        _permit(name, parent)
        found = os.open(name, os.O_RDONLY | _DIRECTORY, dir_fd=parent)
    if os.fstat(found).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        with suppress(OSError):  # of another owner: then it can be read, or not
            os.fchmod(found, stat.S_IRWXU)
    return found


def _permit(name: str, parent: int) -> None:
    if sys.platform != "linux":
        os.chmod(name, stat.S_IRWXU, dir_fd=parent, follow_symlinks=False)
        return
    # chmod follows links, and there may be one by now. This descriptor is of a directory.
    place = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{place}", stat.S_IRWXU)  # noqa: PTH101 - no path of anybody's
    finally:
        os.close(place)


def _identity(directory: int) -> tuple[int, int]:
    about = os.fstat(directory)
    return about.st_dev, about.st_ino
