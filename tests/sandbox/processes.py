"""Find processes of jaxtutor, any of which may end meanwhile."""

import os
from collections.abc import Iterator
from pathlib import Path


def children(of: int | None = None) -> list[str]:
    """Return the command lines of a process's running sandboxes, including its zygotes' (by default
    this process's)."""
    found = []
    for pid, command in _children(of or os.getpid()):
        if "tutor.sandbox.zygote" in command:
            found += [theirs for _, theirs in _children(pid) if theirs]
        elif "tutor.sandbox" in command:
            found.append(command)
    return found


def descendants(of: int) -> set[int]:
    """Return the process IDs of all descendants of a process."""
    own = {pid for pid, _ in _children(of)}
    return own.union(*(descendants(pid) for pid in own))


def alive(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    state = told(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1]
    return bool(state) and state != ["Z"]


def told(path: Path) -> str:
    """Return the contents of a file in /proc; "" if the process has just ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def _children(pid: int) -> Iterator[tuple[int, str]]:
    """Yield process IDs and command lines; a zombie's is empty."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in told(task).split():
            yield int(child), told(Path(f"/proc/{child}/cmdline")).replace("\0", " ")
