"""The machine's capacity to run sandboxes: its cores, its free memory, and its power."""

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


def on_battery() -> bool:
    """Return whether the machine has a battery and runs on it."""
    import psutil

    sensors = getattr(psutil, "sensors_battery", None)  # not on every system
    try:
        battery = sensors() if sensors is not None else None
    except (OSError, RuntimeError, ValueError):  # an unusual /sys
        return False
    return battery is not None and battery.power_plugged is False
