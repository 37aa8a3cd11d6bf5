"""Which processes of ours there are."""

import os
from pathlib import Path


def children() -> list[str]:
    """Command lines of this process's sandboxes."""
    found = []
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        for pid in (task / "children").read_text().split():
            command = Path(f"/proc/{pid}/cmdline")
            found.append(command.read_text().replace("\0", " ") if command.exists() else "")
    return [command for command in found if "tutor.sandbox" in command]
