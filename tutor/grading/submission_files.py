"""Access to submitted files, which are untrusted: they come from a directory or a zip.

Both implementations of `SubmissionFiles` list regular files by their names relative to the root,
with `/`, and read one at a time. Nothing is unpacked to disk.
"""

import unicodedata
from pathlib import Path
from typing import Protocol, Self, TypeAlias

from tutor.grading.student_names import normalize_name

MAX_FILES = 200_000
MAX_DEPTH = 12
MAX_BYTES = 32 << 20
"""Of one file. The limit on code is lower, but a notebook may contain images."""

TOO_DEEP = f"more than {MAX_DEPTH} directories deep; move it up"

_IGNORED_FOLDERS = ("__macosx", "__pycache__", "node_modules", "site-packages", "venv")
"""Generated directories, which contain no submissions."""

Identity: TypeAlias = tuple[int, int]
"""A file's device and inode."""


class Unusable(Exception):
    """The submissions, or a table, cannot be used; the message says why, and what to do."""


class Unreadable(Exception):
    """A listed file cannot be read; the message says why."""


class SubmissionFiles(Protocol):
    """`problems` lists what is not a plain file inside the root. `folders` are all directories, by
    name. `hard_linked` has the files with more than one name on this disk: one may be another
    student's."""

    path: Path
    name: str
    zipped: bool
    problems: list[str]
    folders: set[str]
    hard_linked: dict[str, Identity]

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def names(self) -> list[str]:
        """Return the names of all files, sorted.

        Raises:
            Unusable: there are too many, or they cannot be listed.
        """

    def read(self, name: str) -> bytes:
        """Return the contents of a file.

        Raises:
            Unreadable: it cannot be read, or is too large.
        """


def is_ignored(part: str) -> bool:
    """Return whether a file or directory of this name is hidden or generated."""
    return part.startswith(".") or part.casefold() in _IGNORED_FOLDERS


def name_fault(name: str) -> str | None:
    """Return why a submission cannot have this name; None if it can."""
    if any(unicodedata.category(one) in ("Cc", "Cs") for one in name):
        return "a name with unprintable characters; rename it"
    parts = name.split("/")
    if ".." in parts or "" in parts:
        return "a path that leads outside the submissions"
    if not all(map(normalize_name, parts)):
        return "a name without visible characters; rename it"
    return None


def too_many(path: Path) -> Unusable:
    """Return the error for more than `MAX_FILES` files."""
    return Unusable(f"{path}: more than {MAX_FILES:,} files; split them and grade the parts")
