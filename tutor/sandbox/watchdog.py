"""What a worker is using, as seen from outside: for what no limit of the kernel's holds.

Read a few times a second from `/proc` (Linux); elsewhere nothing is seen and nothing is claimed.
"""

import os
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """Of one process: MiB of memory that is resident, threads, and seconds of processor time that
    all of its threads together have used; None if unknown."""

    resident_mb: int
    threads: int
    processor: float | None = None


NOTHING = Usage(0, 0)


def usage(pid: int) -> Usage:
    """Return what a process has used so far; `NOTHING` where that cannot be told."""
    fields = _stat(f"/proc/{pid}/stat")
    if len(fields) < 22:
        return NOTHING
    return Usage(
        resident_mb=int(fields[21]) * os.sysconf("SC_PAGE_SIZE") >> 20,
        threads=int(fields[17]),
        processor=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
    )


def active(pid: int) -> bool:
    """Return whether any thread of a process computes at this moment, or would if the machine let
    it: if it waits for a core, or for memory that has to be read from a disk."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - names are all that is wanted
    except OSError:
        return False
    # Most often it is the first thread, and then the others need not be read.
    return any(_stat(f"/proc/{pid}/task/{thread}/stat")[:1] in ([b"R"], [b"D"])
               for thread in threads)  # fmt: skip


def idle_seconds() -> float | None:
    """Return how long the cores that this process may use have been idle so far, all together;
    None where that cannot be told."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
        cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    except (OSError, AttributeError):
        return None
    found = [line.split() for line in lines if line.startswith("cpu")]
    # The fourth and fifth number: doing nothing, and nothing but waiting for a disk.
    ticks = sum(int(one[4]) + int(one[5]) for one in found if one[0] in cores and len(one) > 5)
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(path: str) -> list[bytes]:
    """Return the fields from the third on (the state), or nothing if the process is gone."""
    try:
        text = Path(path).read_bytes()
    except OSError:
        return []
    # The name comes second, in brackets, and may hold anything.
    return text[text.rfind(b")") + 2 :].split()


def peak_mb(pid: int) -> int | None:
    """The most memory that a living process has had resident, in MiB; None where that cannot be
    told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    found = next((line for line in lines if line.startswith("VmHWM:")), "")
    return int(found.split()[1]) >> 10 if found else None
