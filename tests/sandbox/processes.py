"""Which processes of ours there are. Any of them may end while it is looked at."""

import os
from collections.abc import Iterator
from pathlib import Path


def children(of: int | None = None) -> list[str]:
    """Command lines of a process's living sandboxes, by default this one's; those of its zygotes
    are its own."""
    found = []
    for pid, command in _children(of or os.getpid()):
        if "tutor.sandbox.zygote" in command:
            found += [theirs for _, theirs in _children(pid) if theirs]
        elif "tutor.sandbox" in command:
            found.append(command)
    return found


def descendants(of: int) -> set[int]:
    """Ids of all that a process has started, and what these have."""
    own = {pid for pid, _ in _children(of)}
    return own.union(*(descendants(pid) for pid in own))


def alive(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    state = told(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1]
    return bool(state) and state != ["Z"]


def told(path: Path) -> str:
    """What a file of /proc holds; nothing if the process has just ended, be it between opening
    and reading."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _children(pid: int) -> Iterator[tuple[int, str]]:
    """Ids and command lines; a zombie's is empty."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in told(task).split():
            yield int(child), told(Path(f"/proc/{child}/cmdline")).replace("\0", " ")
