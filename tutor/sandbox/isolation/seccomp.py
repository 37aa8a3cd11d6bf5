"""A filter of system calls: what code inside may ask the kernel for (Linux; seccomp-BPF).

Whatever is refused fails with EPERM and the process goes on, so that Python turns it into a
`PermissionError` on the line that asked. Threads, files and memory stay possible: JAX needs them.

Why not a package: `pyseccomp` needs libseccomp, which pip does not bring. The program below is a
list of comparisons; it is shorter than the binding.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator
from typing import NamedTuple

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
    """What tells one architecture from another: its audit number, its column in the tables."""

    audit: int
    column: int


ARCHITECTURES = {"x86_64": Arch(0xC000003E, 0), "aarch64": Arch(0xC00000B7, 1)}


class Unless(NamedTuple):
    """Refuse a call unless argument `argument`, of which the bits in `mask` are looked at, is one
    of `values`. Both halves of the argument are compared when `mask` is not given."""

    argument: int
    values: tuple[int, ...]
    mask: int | None = None


class If(NamedTuple):
    """Refuse a call if argument `argument` is one of `values` (its low half is looked at)."""

    argument: int
    values: tuple[int, ...]


class Missing(NamedTuple):
    """Say that there is no such call, so that libraries take an older one."""


Rule = Unless | If | Missing


_FOR_ACCELERATORS = frozenset(
    {"socket", "bind", "listen", "accept", "accept4", "connect", "sendto", "sendmsg", "recvmsg"}
    | {"memfd_create", "mmap", "sched_setaffinity", "ioctl"}
)
"""What drivers and collectives of real accelerators need beside the rest."""


def rules(pid: int, accelerators: bool = False) -> dict[str, Rule | None]:
    """What holds for each call of the table; None refuses it always. Calls that are not in the
    table are allowed if the kernel had them when it was written."""
    conditions: dict[str, Rule] = {
        "clone": Unless(0, (_CLONE_THREAD,), _CLONE_THREAD | _CLONE_NEW),
        "clone3": Missing(),
        # To itself only: abort() must still work.
        "kill": Unless(0, (pid,)),
        "tgkill": Unless(0, (pid,)),
        "prlimit64": Unless(0, (0, pid)),
        "sched_setaffinity": Unless(0, (0, pid)),
        # It would otherwise outlive jaxtutor, or hide from it.
        "prctl": If(0, (1, 4)),  # PR_SET_PDEATHSIG, PR_SET_DUMPABLE
        # What Python asks of any file: whether it is a terminal and how large, whether to wait,
        # what is there to read. Others type into terminals, send signals, change attributes.
        "ioctl": Unless(1, (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)),
        # F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY; F_SETPIPE_SZ takes memory that
        # nothing counts.
        "fcntl": If(1, (8, 10, 15, 1024, 1026, 1031)),
        # An unnamed pair leads nowhere, and asyncio needs one.
        "socketpair": Unless(0, (_AF_UNIX,)),
        "sendto": Unless(4, (0,)),
        # RLIMIT_DATA does not count it.
        "mmap": Unless(3, (0, 1, 0x20), _MAP_SHARED_ANONYMOUS),
    }
    allowed = _FOR_ACCELERATORS if accelerators else frozenset()
    return {name: conditions.get(name) for name in NUMBERS if name not in allowed}


def program(arch: Arch, pid: int, accelerators: bool = False) -> bytes:
    """The filter as the kernel takes it: an array of `struct sock_filter`."""
    code = [
        _step(_LOAD, 4),  # seccomp_data.arch
        _step(_JUMP_EQ, arch.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, 0),  # seccomp_data.nr
    ]
    absent = _step(_RETURN, _ERRNO | errno.ENOSYS)
    # Beyond what was known, x86's second numbering (x32) included.
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
    """What to do once the number matches. It ends with a return."""
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
            if mask is None:  # the high half must be empty
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
    """Where the low half of an argument lies in `struct seccomp_data` (little endian)."""
    return 16 + 8 * argument


def _step(code: int, k: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, true, false, k)


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install(*, accelerators: bool = False) -> None:
    """Put the filter on this process. `no_new_privs` must be set.

    Raises:
        OSError: the kernel has no such filter, or this architecture has no table.
    """
    arch = ARCHITECTURES.get(platform.machine())
    if arch is None or struct.calcsize("P") != 8:
        raise OSError(errno.ENOSYS, f"no table of system calls for {platform.machine()}")
    code = program(arch, os.getpid(), accelerators)
    libc = ctypes.CDLL(None, use_errno=True)
    argument = _Program(len(code) // 8, code)
    if libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(argument), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
