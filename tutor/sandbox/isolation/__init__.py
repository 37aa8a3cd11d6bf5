"""What stands between foreign code and the machine, one file per operating system.

`apply` is called inside the worker before anything heavy is imported: while the process still
has one thread, so that what binds only the calling thread binds everything after it. It
returns what was put in place, layer by layer; a layer that could not be had is reported, never
passed over.
"""

import sys

from msgspec import Struct

from tutor.report import Protection


class Policy(Struct, frozen=True):
    """What a worker may have. Sizes in MiB, time in seconds of processor time.

    `descriptors` are the only ones (beside 0, 1, 2) that stay open.
    """

    memory_mb: int
    cpu_seconds: int
    file_mb: int
    open_files: int
    descriptors: tuple[int, ...]


def apply(policy: Policy) -> list[Protection]:
    if sys.platform == "win32":
        return [Protection("limits", False, "not available on Windows yet")]
    from tutor.sandbox.isolation import posix

    return posix.apply(policy)
