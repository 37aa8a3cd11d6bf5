"""Measure a worker's usage from outside, for limits that the kernel does not enforce.

Read from `/proc` (Linux); other systems report nothing.
"""

import os
import time
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """Resident memory in MiB, threads, and seconds of processor time (None if unknown)."""

    resident_mb: int
    threads: int
    processor: float | None = None


NOTHING = Usage(0, 0)

LOOKS, LOOK_SECONDS = 5, 0.01
"""How often, and at what distance, a thread is looked at."""


def usage(pid: int) -> Usage:
    """Return a process's usage so far; `NOTHING` if unknown."""
    fields = _stat(f"/proc/{pid}/stat")
    if len(fields) < 22:
        return NOTHING
    return Usage(
        resident_mb=int(fields[21]) * os.sysconf("SC_PAGE_SIZE") >> 20,
        threads=int(fields[17]),
        processor=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
    )


def active(pid: int) -> bool:
    """Return whether any thread of a process is computing, or waiting for a core or for memory to
    be read from disk."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - only names are needed
    except OSError:
        return False
    # `any` stops early: usually the first thread is active.
    return any(_stat(f"/proc/{pid}/task/{thread}/stat")[:1] in ([b"R"], [b"D"])
               for thread in threads)  # fmt: skip


def asleep(pid: int) -> bool:
    """Return whether a process's first thread, which runs its Python code, waits for something. It
    is looked at several times, because code that computes may also wait for a moment."""
    for _ in range(LOOKS):
        if _stat(f"/proc/{pid}/task/{pid}/stat")[:1] != [b"S"]:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def idle_seconds() -> float | None:
    """Return the total idle time so far of the cores that this process may use; None if unknown."""
    try:
        lines = Path("/proc/stat").read_text().splitlines()
        cores = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    except (OSError, AttributeError):
        return None
    rows = [line.split() for line in lines if line.startswith("cpu")]
    # Columns 4 and 5: idle, and iowait.
    ticks = sum(int(row[4]) + int(row[5]) for row in rows if row[0] in cores and len(row) > 5)
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(path: str) -> list[bytes]:
    """Return the fields from the third (the state) on; [] if the process is gone."""
    try:
        text = Path(path).read_bytes()
    except OSError:
        return []
    # The second field is the name, in parentheses, and may hold anything.
    return text[text.rfind(b")") + 2 :].split()


def peak_mb(pid: int) -> int | None:
    """Return the peak resident memory of a running process in MiB; None if unknown."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    peak = next((line for line in lines if line.startswith("VmHWM:")), "")
    return int(peak.split()[1]) >> 10 if peak else None
