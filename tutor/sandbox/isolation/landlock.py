"""Restrict files, the network and other processes with Landlock (Linux).

Landlock denies whatever no rule allows. It does not cover chmod, owners and times, which `seccomp`
filters, nor stat, so code can find out whether a file exists.

The two packages on PyPI (landlock 1.0.0.dev5, py-landlock 0.1.1) are a pre-release and an alpha;
three system calls are less to maintain.
"""

import ctypes
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from tutor.sandbox.isolation.libc import LIBC, checked

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1

# linux/landlock.h, LANDLOCK_ACCESS_FS_….
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _READ_FILE | _READ_DIR
_OWN = (
    _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM
    | _REFER | _TRUNCATE
)  # fmt: skip
_DEVICE = _READ_FILE | _WRITE_FILE | _IOCTL_DEV

_ALL_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""All rights over files, by the version of the interface that introduced the last one."""

_ALL_TCP = 0b11
"""Bind and connect, from version 4."""

_ALL_SCOPES = 0b11
"""Abstract sockets and signals, from version 6."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of the kernel's interface; 0 if there is none."""
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    except OSError:
        return 0


def restrict(
    readable: Iterable[Path], own: Path, devices: Iterable[Path], hidden: Iterable[Path]
) -> int:
    """Allow this process only to read `readable` without `hidden`, to read and write its `own`
    directory, and to use `devices`. `no_new_privs` must be set.

    **Returns:** the version of the kernel's interface: 4 and later also refuse TCP, 6 and later
    signals and abstract sockets to processes outside.

    Raises:
        OSError: the kernel does not support Landlock.
    """
    available = _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    handled = _ALL_FILES[max(v for v in _ALL_FILES if v <= available)]
    attributes = _Ruleset(
        handled, _ALL_TCP if available >= 4 else 0, _ALL_SCOPES if available >= 6 else 0
    )
    ruleset = _call(
        _CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)), 0
    )
    try:
        _allow(ruleset, own, _OWN & handled)
        for path in devices:
            _allow(ruleset, path, _DEVICE & handled)
        for name, rights in grants(readable, hidden):
            _allow(ruleset, name, rights)
        _call(_RESTRICT_SELF, ctypes.c_int(ruleset), 0)
    finally:
        os.close(ruleset)
    return available


def grants(readable: Iterable[Path], hidden: Iterable[Path]) -> Iterator[tuple[str, int]]:
    """Yield the paths and rights that make `readable` readable except for `hidden`.

    A directory that holds something hidden is allowed entry by entry. It may also be listed, which
    imports need and which reveals names.
    """
    roots = {os.path.realpath(path) for path in readable}
    secrets = {os.path.realpath(path) for path in hidden}
    above = {str(parent) for secret in secrets for parent in Path(secret).parents}
    covered = roots | secrets  # anything below one of these is handled there
    for root in roots:
        if not any(str(parent) in covered for parent in Path(root).parents) and root not in secrets:
            yield from _grants(root, secrets, above)


def _grants(path: str, secrets: set[str], above: set[str]) -> Iterator[tuple[str, int]]:
    if path not in above:
        yield path, _READ
        return
    yield path, _READ_DIR
    try:
        entries = [*os.scandir(path)]
    except OSError:
        return  # not a directory, or cannot be listed: allow nothing below it
    for entry in entries:
        # A link grants nothing: its target needs its own rule.
        if not entry.is_symlink() and entry.path not in secrets:
            yield from _grants(entry.path, secrets, above)


def _allow(ruleset: int, path: str | Path, rights: int) -> None:
    """Add one rule, if the path exists."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _FILE_RIGHTS
        if rights:
            rule = _PathBeneath(rights, descriptor)
            _call(_ADD_RULE, ctypes.c_int(ruleset), _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


def _call(*arguments: object) -> int:
    return checked(LIBC.syscall(*arguments))
