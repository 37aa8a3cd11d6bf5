"""All of a learner's work as an archive of plain files, readable without jaxtutor."""

import json
import time
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

from tutor.learner.history import KEPT, Attempt
from tutor.learner.progress import Progress
from tutor.storage import paths

README = """\
This archive holds what you have written in jaxtutor.

answers/PACK/LESSON.py          your code
answers/PACK/LESSON.notes.md    your notes
answers/PACK/backups/           code that was replaced
history/PACK/LESSON/            your attempts, in order, with their verdicts
progress.json                   lessons passed, hints taken, and when
"""


def write_archive(
    file: BinaryIO, workspace: Path | None = None, progress: Path | None = None
) -> int:
    """Write the archive, and return the number of files in it.

    **Arguments:** `workspace`, `progress`: by default the user's.

    Raises:
        OSError: something could not be read or written.
    """
    workspace = workspace or paths.workspace()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.txt", README)
        for path in sorted(workspace.rglob("*")):
            if path.is_file() and path.suffix in (".py", ".md"):
                archive.write(path, f"answers/{path.relative_to(workspace).as_posix()}")
        with Progress(progress) as kept:
            for pack, lesson in kept.history.lessons():
                for number, attempt in enumerate(kept.history.attempts(pack, lesson), 1):
                    archive.writestr(_entry(pack, lesson, number, attempt), attempt.code)
            archive.writestr("progress.json", json.dumps(_progress(kept), indent=2))
        return len(archive.namelist())


def _entry(pack: str, lesson: str, number: int, attempt: Attempt) -> zipfile.ZipInfo:
    verdict = "kept" if attempt.verdict == KEPT else attempt.verdict
    name = f"history/{pack}/{lesson}/{number:03}-{verdict}.py"
    # The dates of archives begin in 1980.
    at = max(time.localtime(attempt.at)[:6], (1980, 1, 1, 0, 0, 0))
    entry = zipfile.ZipInfo(name, at)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _progress(kept: Progress) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pack in kept.packs():
        found[pack] = {
            lesson: {
                "status": status,
                "attempts": kept.attempts(pack, lesson),
                "hints": kept.hints(pack, lesson),
            }
            for lesson, status in sorted(kept.statuses(pack).items())
        }
    return found
