"""The learner's files: one Python file per lesson.

Nothing in them is ever lost. Files are replaced atomically; contents written by another program (an
editor, another jaxtutor) are backed up before they are overwritten; a reset makes a backup; a file
that cannot be read is moved aside.
"""

import time
from pathlib import Path

from msgspec import Struct

from tutor.foreign.source_text import BadFile, read_source
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.storage import paths
from tutor.storage.files import free_name, write_atomically


class Saved(Struct, frozen=True):
    """The result of a save. `kept` is the backup of another program's changes, if any."""

    path: Path
    kept: Path | None = None


class Workspace:
    """The files of one pack.

    **Arguments:** `root`: the directory of all packs; by default the user's.
    """

    def __init__(self, pack: Pack, root: Path | None = None) -> None:
        self.folder = (root or paths.workspace()) / pack.id
        self._known: dict[str, str] = {}

    def path(self, lesson: Lesson) -> Path:
        return self.folder / f"{lesson.id}.py"

    def open(self, lesson: Lesson) -> str:
        """Return the learner's code for a lesson; create their file from the starter if missing.

        Raises:
            BadFile: the file is not Python source text.
            OSError: it cannot be read, or the starter cannot be written.
        """
        path = self.path(lesson)
        if not path.exists():
            write_atomically(path, lesson.starter.encode())
        text = read_source(path)
        self._known[lesson.id] = text
        return text

    def changed_outside(self, lesson: Lesson) -> str | None:
        """Return the text on disk if another program has changed it, else None."""
        try:
            text = read_source(self.path(lesson))
        except (OSError, BadFile):
            return None  # unreadable; saving will make a backup
        return None if text == self._known.get(lesson.id) else text

    def accept(self, lesson: Lesson, text: str) -> None:
        """Accept a text that `changed_outside` returned."""
        self._known[lesson.id] = text

    def save(self, lesson: Lesson, text: str) -> Saved:
        """Write the learner's code.

        If another program has changed the file, its contents are backed up first.

        Raises:
            OSError: it could not be written; the file is unchanged.
        """
        path = self.path(lesson)
        kept = None
        if self._known.get(lesson.id) == text and path.exists():
            return Saved(path)
        try:
            present = path.read_bytes()
        except FileNotFoundError:
            present = None
        known = self._known.get(lesson.id)
        ours = known is not None and present == known.encode()
        if present is not None and not ours and present != text.encode():
            kept = self._back_up(lesson, present)
        write_atomically(path, text.encode())
        self._known[lesson.id] = text
        return Saved(path, kept)

    def reset(self, lesson: Lesson) -> Path | None:
        """Restore the starter.

        **Returns:** the backup of the previous contents, or None if there were none.

        Raises:
            OSError: the backup or the starter could not be written; the file is unchanged.
        """
        path = self.path(lesson)
        kept = self._back_up(lesson, path.read_bytes()) if path.exists() else None
        write_atomically(path, lesson.starter.encode())
        self._known[lesson.id] = lesson.starter
        return kept

    def set_aside(self, lesson: Lesson) -> Path:
        """Move an unreadable file to the backups; the next `open` creates a new one.

        Raises:
            OSError: it could not be moved.
        """
        target = self._backup_path(lesson)
        target.parent.mkdir(parents=True, exist_ok=True)
        return self.path(lesson).replace(target)

    def _back_up(self, lesson: Lesson, data: bytes) -> Path:
        target = self._backup_path(lesson)
        write_atomically(target, data)
        return target

    def _backup_path(self, lesson: Lesson) -> Path:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        return free_name(self.folder / "backups" / f"{lesson.id}-{stamp}.py")
