"""Which processes of ours there are."""

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


def _children(pid: int) -> Iterator[tuple[int, str]]:
    """Ids and command lines; a zombie's is empty."""
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                command = Path(f"/proc/{child}/cmdline")
                text = command.read_text().replace("\0", " ") if command.exists() else ""
                yield int(child), text
    except FileNotFoundError:
        return  # it has just ended
