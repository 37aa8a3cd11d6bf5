"""Separate users, network, mounts, IPC and host name (Linux namespaces).

Optional: not every kernel allows it to ordinary users, and no other layer relies on it. There is no
PID namespace: its first process ignores signals that it sends itself (abort), so telling faults
apart would need more processes, and seccomp and Landlock already separate processes.
"""

import ctypes
import os
from pathlib import Path

from tutor.sandbox.isolation.libc import LIBC, checked

_NEWUSER, _NEWNS, _NEWUTS, _NEWIPC, _NEWNET = 0x10000000, 0x20000, 0x4000000, 0x8000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14


def enter() -> None:
    """Enter new namespaces. The process must have one thread. Raises: OSError: the kernel does not
    allow it to this user."""
    user, group = os.getuid(), os.getgid()
    flags = _NEWUSER | _NEWNS | _NEWUTS | _NEWIPC | _NEWNET
    checked(LIBC.unshare(flags))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)


def bounded_folder(folder: Path, size_mb: int, files: int) -> None:
    """Mount a file system in memory at `folder`, for at most `size_mb` MiB and `files` files.

    It disappears with the process. Deleted files that are still open count.

    Raises:
        OSError: it cannot be mounted.
    """
    _mount(b"none", b"/", None, _PRIVATE | _RECURSIVE, None)
    options = f"size={size_mb}m,nr_inodes={files},mode=700".encode()
    _mount(b"none", os.fsencode(folder), b"tmpfs", _NOSUID | _NODEV | _NOEXEC, options)
    os.chdir(folder)  # the working directory was the one below the mount


def _mount(
    source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None
) -> None:
    checked(LIBC.mount(source, target, kind, ctypes.c_ulong(flags), options))
