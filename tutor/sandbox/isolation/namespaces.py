"""A world of its own: users, network, mounts, IPC and host name (Linux namespaces).

An extra where the kernel lets an ordinary user have it; nothing else relies on it. There is no
namespace of process ids: its first process would need another one beside it to be killed by
signals as usual, and the filter of system calls and Landlock already keep processes apart.
"""

import ctypes
import os
from pathlib import Path

_NEWUSER, _NEWNS, _NEWUTS, _NEWIPC, _NEWNET = 0x10000000, 0x20000, 0x4000000, 0x8000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8
_PRIVATE, _RECURSIVE = 1 << 18, 1 << 14


def enter() -> None:
    """Leave the world outside. The process must have one thread.

    Raises:
        OSError: this user or this kernel may not.
    """
    user, group = os.getuid(), os.getgid()
    _unshare(_NEWUSER | _NEWNS | _NEWUTS | _NEWIPC | _NEWNET)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)


def bounded_folder(folder: Path, size_mb: int, files: int) -> None:
    """Mount a file system in memory at `folder`, with room for `size_mb` MiB and `files` files.

    It ends with the process, and what was written but has no name any more still counts.

    Raises:
        OSError: it cannot be mounted.
    """
    _mount(b"none", b"/", None, _PRIVATE | _RECURSIVE, None)
    options = f"size={size_mb}m,nr_inodes={files},mode=700".encode()
    _mount(b"none", os.fsencode(folder), b"tmpfs", _NOSUID | _NODEV | _NOEXEC, options)
    os.chdir(folder)  # the working directory was the folder beneath


_LIBC = ctypes.CDLL(None, use_errno=True)


def _unshare(flags: int) -> None:
    if _LIBC.unshare(flags) != 0:
        _raise()


def _mount(
    source: bytes, target: bytes, kind: bytes | None, flags: int, options: bytes | None
) -> None:
    if _LIBC.mount(source, target, kind, ctypes.c_ulong(flags), options) != 0:
        _raise()


def _raise() -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))
