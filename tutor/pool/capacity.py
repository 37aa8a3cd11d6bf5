"""The machine's capacity to run sandboxes: its cores and its free memory."""

import os
from pathlib import Path

CORES = os.cpu_count() or 1

JOB_MB = 1000
"""Memory that should be free for each submission that runs."""


def usual_jobs() -> int:
    """Return how many submissions to run at once by default: one per core, if memory allows."""
    return max(1, min(CORES, free_memory_mb() // JOB_MB))


def free_memory_mb() -> int:
    """Return Linux's estimate of the memory available without swapping; elsewhere, plenty."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 1 << 20
    found = dict(line.split(":") for line in lines)
    return int(found.get("MemAvailable", "1073741824 kB").split()[0]) >> 10
