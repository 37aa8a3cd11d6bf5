"""How much memory processes take: each its share of what it has in common with others (PSS), as
Linux counts it.
"""

import re
from pathlib import Path


def pss_mb(pid: int) -> float:
    """Proportional set size of a process, in MiB.

    Raises:
        OSError: it has ended, or this is not Linux.
    """
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss: +(\d+) kB$", text, re.MULTILINE)
    assert found is not None, text
    return int(found[1]) / 1024
