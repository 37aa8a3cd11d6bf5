"""The memory of processes."""

import re
from pathlib import Path


def pss_mb(pid: int) -> float:
    """Return the proportional set size (PSS) of a process in MiB: shared pages count in part.

    Raises:
        OSError: the process has ended, or this is not Linux.
    """
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss: +(\d+) kB$", text, re.MULTILINE)
    assert found is not None, text
    return int(found[1]) / 1024
