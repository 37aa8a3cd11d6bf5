"""The layers of every POSIX system: close descriptors, limit resources, die with the parent."""

import ctypes
import os
import resource
import signal
import sys
import sysconfig
from pathlib import Path

from tutor.report import Protection
from tutor.sandbox.isolation import Policy
from tutor.sandbox.limits import ADDRESS_SPACE_GB

PR_SET_PDEATHSIG = 1
_PACKAGE = Path(__file__).resolve().parents[2]


def apply(policy: Policy) -> list[Protection]:
    return [close_descriptors(policy.descriptors), *limit_resources(policy), die_with_parent()]


def close_descriptors(keep: tuple[int, ...]) -> Protection:
    """Close all descriptors but the standard streams and `keep`."""
    last = 2
    for descriptor in sorted(keep):
        os.closerange(last + 1, descriptor)
        last = descriptor
    os.closerange(
        last + 1, max(last + 2, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65536))
    )
    return Protection("descriptors", True, "none inherited but two pipes")


def limit_resources(policy: Policy) -> list[Protection]:
    """Set resource limits. RLIMIT_NPROC is not used: it counts all processes of the user."""
    mib = 1 << 20
    values = [
        # A tight RLIMIT_AS would refuse XLA's reservations (1.6 GiB mapped for 0.24 resident);
        # RLIMIT_DATA counts private writable memory.
        ("memory", resource.RLIMIT_DATA, policy.memory_mb * mib, f"{policy.memory_mb} MiB of data"),
        ("processor time", resource.RLIMIT_CPU, policy.cpu_seconds, f"{policy.cpu_seconds} s"),
        ("file size", resource.RLIMIT_FSIZE, policy.disk_mb * mib, f"{policy.disk_mb} MiB a file"),
        ("open files", resource.RLIMIT_NOFILE, policy.open_files, f"{policy.open_files}"),
        ("core dumps", resource.RLIMIT_CORE, 0, "none"),
    ]
    if not policy.accelerators:  # whose drivers reserve terabytes
        values.append(("address space", resource.RLIMIT_AS, ADDRESS_SPACE_GB << 30,
                       f"{ADDRESS_SPACE_GB} GiB"))  # fmt: skip
    done = []
    for name, which, value, detail in values:
        if name in policy.without:
            done.append(Protection(name, False, "left out"))
            continue
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


def die_with_parent(parent: int | None = None) -> Protection:
    """Have the kernel kill this process when its parent ends (Linux).

    **Arguments:** `parent`: its process ID; this process exits if that has already ended. Without
    it, an earlier end goes unnoticed.
    """
    name = "dies with its parent"
    if sys.platform != "linux":
        return Protection(name, False, "Linux only")
    parent = parent or os.getppid()
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        return Protection(name, False, os.strerror(ctypes.get_errno()))
    if os.getppid() != parent:  # it has ended already, so the signal will never come
        os._exit(1)
    return Protection(name, True)


def libraries() -> list[Path]:
    """Return the directories of the interpreter, the installed packages and this package."""
    named = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    homes = [Path(home) / lib for home in (sys.prefix, sys.base_prefix) for lib in ("lib", "lib64")]
    return [_PACKAGE, *named, *homes, *_installed()]


def hidden_paths(policy: Policy) -> list[Path]:
    """Return the paths below the libraries that may not be read."""
    packages = [folder / name for folder in _installed() for name in policy.hidden_packages]
    return [*map(Path, policy.hidden), *packages]


def _installed() -> list[Path]:
    """Return the directories of installed packages, but not others on the import path, such as a
    source tree."""
    folders = [Path(entry) for entry in sys.path if entry]
    return [folder for folder in folders if folder.name in ("site-packages", "dist-packages")]
