"""Filter system calls with seccomp-BPF (Linux).

Refused calls fail with EPERM and the process continues, so Python raises `PermissionError` on the
line of the call. Threads, files and memory stay possible: JAX needs them.

`pyseccomp` needs libseccomp, which pip does not install. The program below is a list of
comparisons, shorter than the binding.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tutor.sandbox.isolation.libc import LIBC, checked
from tutor.sandbox.isolation.syscalls import LAST, NUMBERS, UNASSIGNED

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_X32 = 0x40000000

# Opcodes of classic BPF (linux/bpf_common.h).
_LOAD, _JUMP_EQ, _JUMP_GE, _JUMP_ANY, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06

_CLONE_THREAD = 0x00010000
_CLONE_NEW = 0x7E020080
"""Every CLONE_NEW… flag: user, pid, net, ipc, uts, cgroup, mount and time namespaces."""

_MAP_SHARED_ANONYMOUS = 0x21
_AF_UNIX = 1


class Arch(NamedTuple):
    """An architecture: its audit number and its column in the tables."""

    audit: int
    column: int


ARCHITECTURES = {"x86_64": Arch(0xC000003E, 0), "aarch64": Arch(0xC00000B7, 1)}


class Unless(NamedTuple):
    """Refuse a call unless argument number `argument`, masked with `mask`, is one of `values`.
    Without `mask` both halves of the argument are compared."""

    argument: int
    values: tuple[int, ...]
    mask: int | None = None


class If(NamedTuple):
    """Refuse a call if the low half of argument number `argument` is one of `values`."""

    argument: int
    values: tuple[int, ...]


class Missing(NamedTuple):
    """Fail with ENOSYS, so that libraries use an older call."""


Rule = Unless | If | Missing


_FOR_ACCELERATORS = frozenset(
    {"socket", "bind", "listen", "accept", "accept4", "connect", "sendto", "sendmsg", "recvmsg"}
    | {"memfd_create", "mmap", "sched_setaffinity", "ioctl"}
)
"""Calls that drivers and collectives of accelerators need as well."""


def rules(pid: int, accelerators: bool = False) -> dict[str, Rule | None]:
    """Return the rule for each call in the table; None always refuses it. Calls not in the table
    are allowed if Linux had them when the table was written."""
    conditions: dict[str, Rule] = {
        "clone": Unless(0, (_CLONE_THREAD,), _CLONE_THREAD | _CLONE_NEW),
        "clone3": Missing(),
        # To itself only: abort() must still work.
        "kill": Unless(0, (pid,)),
        "tgkill": Unless(0, (pid,)),
        "prlimit64": Unless(0, (0, pid)),
        "sched_setaffinity": Unless(0, (0, pid)),
        # Otherwise a process could outlive jaxtutor, or hide from it.
        "prctl": If(0, (1, 4)),  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE
        # Python queries any file: is it a terminal, of what size, blocking, how much to read.
        # Other requests type into terminals, send signals or change attributes.
        "ioctl": Unless(1, (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)),
        # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY; F_SETPIPE_SZ, which takes
        # memory that no limit counts.
        "fcntl": If(1, (8, 10, 15, 1024, 1026, 1031)),
        # An unnamed pair is harmless, and asyncio needs one.
        "socketpair": Unless(0, (_AF_UNIX,)),
        "sendto": Unless(4, (0,)),
        # RLIMIT_DATA does not count shared anonymous memory.
        "mmap": Unless(3, (0, 1, 0x20), _MAP_SHARED_ANONYMOUS),
    }
    allowed = _FOR_ACCELERATORS if accelerators else frozenset()
    return {name: conditions.get(name) for name in NUMBERS if name not in allowed}


def program(arch: Arch, pid: int, accelerators: bool = False) -> bytes:
    """Return the filter as an array of `struct sock_filter`."""
    code = [
        _step(_LOAD, 4),  # seccomp_data.arch
        _step(_JUMP_EQ, arch.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, 0),  # seccomp_data.nr
    ]
    absent = _step(_RETURN, _ERRNO | errno.ENOSYS)
    # Calls newer than the table, and x86's second numbering (x32).
    code += [_step(_JUMP_GE, LAST + 1, 0, 1), absent]
    for first, end in UNASSIGNED[arch.column]:
        code += [_step(_JUMP_GE, first, 0, 2), _step(_JUMP_GE, end, 1, 0), absent]
    for name, rule in rules(pid, accelerators).items():
        number = NUMBERS[name][arch.column]
        if number is None:
            continue
        body = [*_body(rule)]
        code += [_step(_JUMP_EQ, number, 0, len(body)), *body]
    code.append(_step(_RETURN, _ALLOW))
    return b"".join(code)


def _body(rule: Rule | None) -> Iterator[bytes]:
    """Yield the steps for a matching number, ending with a return."""
    refuse = _step(_RETURN, _ERRNO | errno.EPERM)
    match rule:
        case None:
            yield refuse
        case Missing():
            yield _step(_RETURN, _ERRNO | errno.ENOSYS)
        case If(argument, values):
            yield _step(_LOAD, _low(argument))
            for left, value in _countdown(values):
                yield _step(_JUMP_EQ, value, left + 1, 0)
            yield _step(_RETURN, _ALLOW)
            yield refuse
        case Unless(argument, values, mask):
            if mask is None:  # the high half must be 0
                yield _step(_LOAD, _low(argument) + 4)
                yield _step(_JUMP_EQ, 0, 1, 0)
                yield refuse
            yield _step(_LOAD, _low(argument))
            if mask is not None:
                yield _step(_AND, mask)
            for left, value in _countdown(values):
                yield _step(_JUMP_EQ, value, left + 1, 0)
            yield refuse
            yield _step(_RETURN, _ALLOW)


def _countdown(values: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    for index, value in enumerate(values):
        yield len(values) - 1 - index, value


def _low(argument: int) -> int:
    """Return the offset of an argument's low half in `struct seccomp_data` (little endian)."""
    return 16 + 8 * argument


def _step(code: int, k: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, true, false, k)


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(*, accelerators: bool = False) -> None:
    """Install the filter. `no_new_privs` must be set. Raises: OSError: the kernel has no seccomp,
    or there is no table for this architecture."""
    arch = ARCHITECTURES.get(platform.machine())
    if arch is None or struct.calcsize("P") != 8:
        raise OSError(errno.ENOSYS, f"no table of system calls for {platform.machine()}")
    code = program(arch, os.getpid(), accelerators)
    argument = _Program(len(code) // 8, code)
    checked(LIBC.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(argument), 0, 0))
