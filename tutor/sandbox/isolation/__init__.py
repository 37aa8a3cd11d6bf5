"""What stands between foreign code and the machine, one file per operating system.

`apply` is called inside the worker before anything heavy is imported: while the process still
has one thread, so that what binds only the calling thread binds everything after it, the threads
of numerical libraries included. It returns what was put in place, layer by layer; a layer that
could not be had is reported, never passed over.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from msgspec import Struct

from tutor.report import Protection

ESSENTIAL = ("files", "network", "processes")
"""Protections without which a stranger's code should not be run."""


class Policy(Struct, frozen=True):
    """What a worker may have. Sizes in MiB, time in seconds of processor time.

    `descriptors` are the only ones (beside 0, 1, 2) that stay open. `folder` is the worker's own;
    nothing in `hidden` may be read, nor any package in `hidden_packages`; those in `packages`, by
    name, may be imported wherever they lie. `accelerators`: their drivers are needed. `without`
    names layers to leave out, which only tests do.
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
    """Put everything on that this system has."""
    return _system().apply(policy)  # type: ignore[no-any-return]


def _system() -> Any:
    name = {"linux": "linux", "darwin": "macos"}.get(sys.platform, "posix")
    return import_module(f"tutor.sandbox.isolation.{name}")


def missing(protections: Iterable[Protection]) -> list[str]:
    """Which of the `ESSENTIAL` protections are not on."""
    on = {protection.name for protection in protections if protection.active}
    return [name for name in ESSENTIAL if name not in on]
