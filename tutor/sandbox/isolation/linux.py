"""The layers of Linux, from the outermost to the innermost. Each is tried; none needs another.
`docs/security.md` explains them."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

from tutor.report import Protection
from tutor.sandbox.isolation import Policy, landlock, namespaces, posix, seccomp
from tutor.sandbox.isolation.libc import LIBC, checked

_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_CAPABILITY_VERSION = 0x20080522

_SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SYSTEM_FILES = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/usr/share/zoneinfo",
    "/proc/cpuinfo", "/proc/meminfo",
    "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip
_OWN = ("fd", "maps", "stat", "statm", "status")
"""Files in /proc/self that glibc and the libraries read. Others reveal the host: without
namespaces, `net` lists its connections and `mountinfo` its file systems."""

# Not /dev/zero: a shared mapping of it is memory that no limit counts.
_DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
_ACCELERATOR_FILES = (
    "/proc/self",
    "/usr/local/cuda",
    "/proc/driver/nvidia",
    "/proc/devices",
    "/sys",
    "/proc/sys",
)


def apply(policy: Policy) -> list[Protection]:
    protections = [posix.close_descriptors(policy.descriptors)]
    if threads() != 1:
        protections.append(Protection("one thread", False, "some layers bind one thread only"))
    protections += _namespaces(policy)
    protections += posix.limit_resources(policy)
    protections.append(posix.die_with_parent())
    protections.append(
        _tried("privileges", policy, _give_up_privileges, "dropped, and none can be gained")
    )
    protections.append(_files(policy))
    protections += _system_calls(policy)
    return protections


def threads() -> int:
    """Return the number of threads of this process."""
    return sum(1 for _ in os.scandir("/proc/self/task"))


def _tried(name: str, policy: Policy, layer: Callable[[], None], detail: str) -> Protection:
    if name in policy.without:
        return Protection(name, False, "left out")
    try:
        layer()
    except OSError as error:
        return Protection(name, False, f"unavailable here: {error.strerror}")
    return Protection(name, True, detail)


def _namespaces(policy: Policy) -> list[Protection]:
    name = "namespaces"
    if policy.accelerators:
        return [Protection(name, False, "the drivers of accelerators need the host's")]
    entered = _tried(name, policy, namespaces.enter, "users, network, mounts, IPC")
    if not entered.active:
        return [entered]
    folder, size, files = Path(policy.folder), policy.disk_mb, policy.files
    return [
        entered,
        _tried(
            "bounded folder",
            policy,
            lambda: namespaces.bounded_folder(folder, size, files),
            f"{size} MiB and {files} files, in memory",
        ),
    ]


def _give_up_privileges() -> None:
    """Drop all privileges (of root), and let none be gained (from set-user-ID programs)."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    LIBC.prctl(_PR_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    checked(LIBC.capset(ctypes.byref(header), ctypes.byref(nothing)))
    checked(LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _files(policy: Policy) -> Protection:
    if "files" in policy.without:
        return Protection("files", False, "left out")
    own = (f"/proc/self/{name}" for name in _OWN)
    system = map(Path, (*_SYSTEM_LIBRARIES, *_SYSTEM_FILES, *own))
    readable = [*posix.libraries(), *map(Path, policy.packages.values()), *system]
    devices = [Path(name) for name in _DEVICES]
    if policy.accelerators:
        readable += [Path(name) for name in _ACCELERATOR_FILES]
        devices += sorted(Path("/dev").glob("nvidia*"))
    try:
        version = landlock.restrict(
            readable, Path(policy.folder), devices, posix.hidden_paths(policy)
        )
    except OSError as error:
        return Protection("files", False, f"no Landlock here: {error.strerror}")
    more = "; TCP refused" if version >= 4 else ""
    more += "; no signals or abstract sockets to the outside" if version >= 6 else ""
    allowed = "read libraries, write a private directory, nothing else"
    return Protection("files", True, f"{allowed}{more} (Landlock {version})")


def _system_calls(policy: Policy) -> list[Protection]:
    """Install one filter, reported as the protections that it provides."""
    names = ("system calls", "network", "processes")
    if "system calls" in policy.without:
        return [Protection(name, False, "left out") for name in names]
    try:
        seccomp.install(accelerators=policy.accelerators)
    except OSError as error:
        return [Protection(name, False, f"no filter: {error.strerror}") for name in names]
    network = Protection("network", True, "no sockets")
    if policy.accelerators:
        network = Protection("network", False, "collectives over accelerators need sockets")
    return [
        Protection("system calls", True, "filtered"),
        network,
        Protection("processes", True, "none can be started, signalled or inspected"),
    ]
