"""A control group per worker: the kernel counts and limits its memory and threads (Linux).

Optional: it needs root, or a session manager that delegates part of the tree to the user. It counts
memory that no limit on a process does, such as files in memory.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/sys/fs/cgroup")


class Group(NamedTuple):
    """A directory and its settings. `ooms` is the file that counts kills for lack of memory."""

    folder: Path
    settings: dict[str, int]
    ooms: str


class Cgroup:
    """The groups of one worker. Call `make`, and `remove` once the worker has been waited for."""

    def __init__(self, groups: list[Group]) -> None:
        self.groups = groups

    @classmethod
    def make(cls, memory_mb: int, threads: int) -> "Cgroup | None":
        """Create a group with these limits; return None if that is impossible here."""
        name = f"jaxtutor-{os.getpid()}-{os.urandom(4).hex()}"
        for groups in candidates(_membership(), name, memory_mb, threads):
            if groups and set_up(groups):
                return cls(groups)
        return None

    def add(self, pid: int) -> None:
        """Add a process, before it does anything."""
        for group in self.groups:
            with suppress(OSError):  # it has already ended
                (group.folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self, exit_code: int) -> bool:
        """Return whether a process with this exit code was killed for lack of memory."""
        return exit_code == -signal.SIGKILL and any(map(_killed, self.groups))

    def remove(self) -> None:
        for group in self.groups:
            with suppress(OSError):
                group.folder.rmdir()


def leftovers() -> list[Path]:
    """Return existing groups of jaxtutor next to those that `make` would create."""
    found = candidates(_membership(), "any", 0, 0)
    parents = {group.folder.parent for groups in found for group in groups}
    return [folder for parent in parents for folder in parent.glob("jaxtutor-*-*")]


def _membership() -> list[str]:
    try:
        return Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []


def candidates(membership: list[str], name: str, memory_mb: int, threads: int) -> list[list[Group]]:
    """Return possible groups, best first: version 2 below or next to our own, then version 1."""
    paths: dict[str, Path] = {}
    for line in membership:
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = Path(path.lstrip("/"))
    memory = memory_mb << 20
    newer: list[list[Group]] = []
    if "" in paths:
        own = ROOT / paths[""]
        both = {"memory.max": memory, "pids.max": threads}
        newer += [
            [Group(at / name, both, "memory.events")]
            for at in (own, own.parent)
            if at.is_relative_to(ROOT)
        ]
    old = [
        Group(ROOT / controller / paths[controller] / name, {setting: value}, ooms)
        for controller, setting, value, ooms in (
            ("memory", "memory.limit_in_bytes", memory, "memory.oom_control"),
            ("pids", "pids.max", threads, ""),
        )
        if controller in paths
    ]
    return [*newer, old]


def set_up(groups: list[Group]) -> bool:
    for group in groups:
        try:
            group.folder.mkdir()
            for setting, value in group.settings.items():
                # "r+", because without its controller a group lacks the file.
                with (group.folder / setting).open("r+") as file:
                    file.write(str(value))
        except OSError:
            for made in groups:
                with suppress(OSError):
                    made.folder.rmdir()
            return False
    return True


def _killed(group: Group) -> bool:
    if not group.ooms:
        return False
    try:
        lines = (group.folder / group.ooms).read_text().splitlines()
    except OSError:
        return False
    counts = dict(line.split()[:2] for line in lines if len(line.split()) > 1)
    return int(counts.get("oom_kill", 0)) > 0
