"""Which files code inside may open, and that it may not reach the network or other processes
(Linux; Landlock).

Landlock grants: everything that no rule names is refused. What it does not see at all (stat,
chmod, owners, times) is refused by the filter of system calls instead, but for `stat`: whether a
file exists can be asked.

Why not a package: the two on PyPI (landlock 1.0.0.dev5, py-landlock 0.1.1) are a pre-release and
an alpha; three system calls are less to keep than either.
"""

import ctypes
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1

# linux/landlock.h, LANDLOCK_ACCESS_FS_….
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE = 1 << 4, 1 << 5
_MAKE_DIR, _MAKE_REG, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _READ_FILE | _READ_DIR
_OWN = (
    _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _MAKE_SYM
    | _REFER | _TRUNCATE
)  # fmt: skip
_DEVICE = _READ_FILE | _WRITE_FILE | _IOCTL_DEV

_ALL_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""Every right over files that there is, by the version of the interface that brought it."""

_ALL_TCP = 0b11
"""Binding and connecting, from version 4 on."""

_ALL_SCOPES = 0b11
"""Abstract sockets and signals, from version 6 on."""


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("tcp", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Of the kernel's interface; 0 if there is none."""
    try:
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    except OSError:
        return 0


def restrict(
    readable: Iterable[Path], own: Path, devices: Iterable[Path], hidden: Iterable[Path]
) -> int:
    """Leave this process `readable` to read (but for what is `hidden` in it), its `own` folder to
    read and write, and `devices`. `no_new_privs` must be set.

    **Returns:** the version of the kernel's interface: 4 and more also refuse TCP, 6 and more
    also signals and abstract sockets to anything outside.

    Raises:
        OSError: the kernel cannot do it.
    """
    available = _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    handled = _ALL_FILES[max(v for v in _ALL_FILES if v <= available)]
    wanted = _Ruleset(
        handled, _ALL_TCP if available >= 4 else 0, _ALL_SCOPES if available >= 6 else 0
    )
    ruleset = _call(
        _CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(ctypes.sizeof(wanted)), 0
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
    """What to allow so that `readable` can be read but nothing in `hidden`.

    A folder that holds something hidden is allowed entry by entry; that it may also be listed
    shows names, and imports need it.
    """
    roots = {os.path.realpath(path) for path in readable}
    secrets = {os.path.realpath(path) for path in hidden}
    above = {str(parent) for secret in secrets for parent in Path(secret).parents}
    covered = roots | secrets  # what lies in one of these is seen to there
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
        return  # no folder, or not to be listed: nothing beneath it can be allowed
    for entry in entries:
        # A link grants nothing: what it leads to is allowed by its own rule or not at all.
        if not entry.is_symlink() and entry.path not in secrets:
            yield from _grants(entry.path, secrets, above)


def _allow(ruleset: int, path: str | Path, rights: int) -> None:
    """One rule. What does not exist needs none."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_A_FILE
        if rights:
            rule = _PathBeneath(rights, descriptor)
            _call(_ADD_RULE, ctypes.c_int(ruleset), _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(descriptor)


_LIBC = ctypes.CDLL(None, use_errno=True)


def _call(*arguments: object) -> int:
    result: int = _LIBC.syscall(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
