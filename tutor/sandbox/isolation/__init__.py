"""Protect the machine from untrusted code: `linux.py` isolates it, `posix.py` only limits it.

The worker calls `apply` before any large import, while it has one thread: some layers bind only the
calling thread and those it starts, such as the threads of numerical libraries. `apply` reports
every layer, including those that are unavailable.
"""

import sys
from collections.abc import Iterable

from msgspec import Struct

from tutor.report import Protection

ESSENTIAL = ("files", "network", "processes")
"""Protections without which submissions of others should not be run."""


class Policy(Struct, frozen=True):
    """What a worker may use. Sizes are in MiB, times in seconds of processor time.

    Only `descriptors` and 0, 1, 2 stay open. `folder` is the private directory. Nothing in `hidden`
    and no package in `hidden_packages` may be read; `packages`, by name, may be imported from
    anywhere. `accelerators` allows what their drivers need. `without` names layers that tests
    leave out.
    """

    memory_mb: int
    cpu_seconds: int
    disk_mb: int
    files: int
    open_files: int
    threads: int
    descriptors: tuple[int, ...]
    folder: str
    hidden: tuple[str, ...] = ()
    hidden_packages: tuple[str, ...] = ()
    packages: dict[str, str] = {}
    accelerators: bool = False
    without: frozenset[str] = frozenset()


def apply(policy: Policy) -> list[Protection]:
    """Apply every layer that this system has, and report each.

    Systems other than Linux have only limits on resources, and `ESSENTIAL` is missing.
    """
    if sys.platform != "linux":
        from tutor.sandbox.isolation import posix

        none = [Protection(name, False, "Linux only") for name in ESSENTIAL]
        return [*posix.apply(policy), *none]
    from tutor.sandbox.isolation import linux

    return linux.apply(policy)


def missing(protections: Iterable[Protection]) -> list[str]:
    """Return the `ESSENTIAL` protections that are not active."""
    active = {protection.name for protection in protections if protection.active}
    return [name for name in ESSENTIAL if name not in active]
