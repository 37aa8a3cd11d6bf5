"""The layers of Windows: a job object with limits. Untested on this system; the unit tests hold
what it asks for. It covers memory, time and processes, not files and not the network, so a
stranger's code should not be run there.
"""

import ctypes
from ctypes import wintypes
from typing import Any

from tutor.report import Protection
from tutor.sandbox.isolation import Policy

_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
_PROCESS_TIME, _ACTIVE_PROCESS = 0x2, 0x8
_PROCESS_MEMORY, _DIE_ON_EXCEPTION, _KILL_ON_CLOSE = 0x100, 0x400, 0x2000


class _Basic(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
        ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
    )


class JobLimits(ctypes.Structure):
    """`JOBOBJECT_EXTENDED_LIMIT_INFORMATION`."""

    _fields_ = (
        ("Basic", _Basic),
        ("Io", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


def job_limits(policy: Policy) -> JobLimits:
    """What the job is asked for: one process, so much memory (bytes) and time (100 ns)."""
    limits = JobLimits()
    limits.Basic.LimitFlags = (
        _PROCESS_TIME | _ACTIVE_PROCESS | _PROCESS_MEMORY | _DIE_ON_EXCEPTION | _KILL_ON_CLOSE
    )
    limits.Basic.PerProcessUserTimeLimit = policy.cpu_seconds * 10_000_000
    limits.Basic.ActiveProcessLimit = 1
    limits.ProcessMemoryLimit = policy.memory_mb << 20
    return limits


def apply(policy: Policy) -> list[Protection]:
    windll: Any = ctypes
    kernel = windll.WinDLL("kernel32", use_last_error=True)
    job = kernel.CreateJobObjectW(None, None)
    limits = job_limits(policy)
    size = ctypes.sizeof(limits)
    done = (
        kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        and kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())
    )  # fmt: skip
    detail = f"one process, {policy.memory_mb} MiB, {policy.cpu_seconds} s" if done else "no job"
    return [
        Protection("processes", bool(done), detail),
        Protection("files", False, "not on Windows"),
        Protection("network", False, "not on Windows"),
    ]
