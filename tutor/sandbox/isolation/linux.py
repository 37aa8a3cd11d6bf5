"""The layers of Linux, from the outermost to the innermost; each is tried, none is needed by
another. `docs/security.md` says what each is for."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

from tutor.report import Protection
from tutor.sandbox.isolation import Policy, landlock, namespaces, posix, seccomp

_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
_CAPABILITY_VERSION = 0x20080522

_SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SYSTEM_FILES = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/usr/share/zoneinfo",
    "/proc/cpuinfo", "/proc/meminfo",
    "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip
_OWN = ("fd", "maps", "stat", "statm", "status")
"""What glibc and the libraries read in /proc/self. The rest of it tells of the machine: where there
are no namespaces, `net` lists the host's connections, `mountinfo` its file systems."""

# Not /dev/zero: mapped and shared, it is memory that no limit on the process counts.
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
    found = [posix.close_descriptors(policy.descriptors)]
    if threads() != 1:
        found.append(Protection("one thread", False, "what follows may not bind every thread"))
    found += _namespaces(policy)
    found += posix.limits(policy)
    found.append(posix.die_with_parent())
    found.append(_tried("privileges", policy, _give_up_privileges, "none, and none to be gained"))
    found.append(_files(policy))
    found += _system_calls(policy)
    return found


def threads() -> int:
    """Of this process."""
    return sum(1 for _ in os.scandir("/proc/self/task"))


def _tried(name: str, policy: Policy, layer: Callable[[], None], detail: str) -> Protection:
    if name in policy.without:
        return Protection(name, False, "left out")
    try:
        layer()
    except OSError as error:
        return Protection(name, False, f"not to be had here: {error.strerror}")
    return Protection(name, True, detail)


def _namespaces(policy: Policy) -> list[Protection]:
    name = "namespaces"
    if policy.accelerators:
        return [Protection(name, False, "not with accelerators: their drivers need the host's")]
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
    """No privilege is left (as root) and none can be gained (by a set-user-ID program)."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    libc.prctl(_PR_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for failed in (
        libc.capset(ctypes.byref(header), ctypes.byref(nothing)),
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
    ):
        if failed:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


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
        version = landlock.restrict(readable, Path(policy.folder), devices, posix.hidden(policy))
    except OSError as error:
        return Protection("files", False, f"no Landlock here: {error.strerror}")
    more = "; TCP refused" if version >= 4 else ""
    more += "; signals and abstract sockets kept in" if version >= 6 else ""
    what = "libraries to read, a private folder to write, nothing else"
    return Protection("files", True, f"{what}{more} (Landlock {version})")


def _system_calls(policy: Policy) -> list[Protection]:
    """One filter, told as what it is for."""
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
        Protection("processes", True, "none can be started, signalled or looked into"),
    ]
