"""What a worker is using, as seen from outside: for what no limit of the kernel's holds.

Read a few times a second from `/proc` (Linux); elsewhere nothing is seen and nothing is claimed.
"""

import os
from pathlib import Path
from typing import NamedTuple


class Usage(NamedTuple):
    """Of one process: MiB of memory that is resident, and threads."""

    resident_mb: int
    threads: int


NOTHING = Usage(0, 0)


def usage(pid: int) -> Usage:
    """What a process uses now; `NOTHING` where that cannot be told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return NOTHING
    # The name comes second, in brackets, and may hold anything.
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 22:
        return NOTHING
    return Usage(int(fields[21]) * os.sysconf("SC_PAGE_SIZE") >> 20, int(fields[17]))


def peak_mb(pid: int) -> int | None:
    """The most memory that a living process has had resident, in MiB; None where that cannot be
    told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    found = next((line for line in lines if line.startswith("VmHWM:")), "")
    return int(found.split()[1]) >> 10 if found else None


def exceeds(folder: Path, disk_mb: int, files: int) -> bool:
    """Whether more than so many files, or MiB on the disk, are in `folder`. Looks at no more than
    it takes to know."""
    used = count = 0
    pending = [str(folder)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    count += 1
                    used += entry.stat(follow_symlinks=False).st_blocks << 9
                    if count > files or used > disk_mb << 20:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
        except OSError:
            continue  # it is gone already
    return False
