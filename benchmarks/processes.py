"""A process and all its descendants: their processor time and memory."""

import time
from contextlib import suppress

import psutil

from benchmarks.memory import pss_mb

LOOK_SECONDS = 0.25
"""Seconds between two looks at whether anything computes."""

IDLE_SHARE = 0.1
"""Share of one core below which descendants count as idle."""


def family(pid: int) -> list[psutil.Process]:
    """Return a process and its descendants; an empty list if it has ended."""
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def processor_seconds(pid: int, *, itself: bool = True) -> float:
    """Return the processor time of a process and its descendants so far, including those that have
    ended and were waited for.

    **Arguments:** `itself`: False leaves out the process, and what it waited for.
    """
    seconds = 0.0
    for process in family(pid)[0 if itself else 1 :]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


def memory_mb(pid: int) -> float:
    """Return the memory (PSS) of a process and its descendants in MiB."""
    found = 0.0
    for process in family(pid):
        with suppress(OSError, AssertionError):  # it has just ended
            found += pss_mb(process.pid)
    return found


def wait_until_idle(pid: int, patience: float) -> None:
    """Wait until the descendants of a process compute nothing.

    Raises:
        TimeoutError: they still do after `patience` seconds.
    """
    end, quiet = time.monotonic() + patience, 0
    while quiet < 2:
        if time.monotonic() > end:
            raise TimeoutError("the processes do not become idle")
        used, began = processor_seconds(pid, itself=False), time.monotonic()
        time.sleep(LOOK_SECONDS)
        computed = processor_seconds(pid, itself=False) - used
        quiet = quiet + 1 if computed < IDLE_SHARE * (time.monotonic() - began) else 0
