"""What every POSIX system offers: descriptors closed, resource limits, death with the parent."""

import ctypes
import os
import resource
import signal
import sys

from tutor.report import Protection
from tutor.sandbox.isolation import Policy

PR_SET_PDEATHSIG = 1


def apply(policy: Policy) -> list[Protection]:
    return [_descriptors(policy.descriptors), *_limits(policy), _die_with_parent()]


def _descriptors(keep: tuple[int, ...]) -> Protection:
    last = 2
    for descriptor in sorted(keep):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(
        last + 1, max(last + 2, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65536))
    )
    return Protection("descriptors", True, "none inherited but the two pipes of the conversation")


def _limits(policy: Policy) -> list[Protection]:
    mib = 1 << 20
    wanted = [
        # RLIMIT_AS would refuse XLA's reservations (1.6 GiB mapped for 0.24 resident);
        # RLIMIT_DATA counts what is really private and writable.
        ("memory", resource.RLIMIT_DATA, policy.memory_mb * mib, f"{policy.memory_mb} MiB of data"),
        ("processor time", resource.RLIMIT_CPU, policy.cpu_seconds, f"{policy.cpu_seconds} s"),
        ("file size", resource.RLIMIT_FSIZE, policy.file_mb * mib, f"{policy.file_mb} MiB a file"),
        ("open files", resource.RLIMIT_NOFILE, policy.open_files, f"{policy.open_files}"),
        ("core dumps", resource.RLIMIT_CORE, 0, "none"),
    ]
    done = []
    for name, which, value, detail in wanted:
        try:
            hard = resource.getrlimit(which)[1]
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.setrlimit(which, (value, value))
        except (OSError, ValueError) as error:
            done.append(Protection(name, False, f"setrlimit: {error}"))
        else:
            active = not (which == resource.RLIMIT_DATA and sys.platform == "darwin")
            done.append(Protection(name, active, detail if active else "macOS does not enforce it"))
    return done


def _die_with_parent() -> Protection:
    name = "dies with its parent"
    if sys.platform != "linux":
        return Protection(name, False, "Linux only")
    parent = os.getppid()
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        return Protection(name, False, os.strerror(ctypes.get_errno()))
    if os.getppid() != parent:  # it died in between, so the signal will never come
        os._exit(1)
    return Protection(name, True)
