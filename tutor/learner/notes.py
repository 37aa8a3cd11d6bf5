"""A learner's notes on a lesson: a file beside their code, which is theirs to edit anywhere."""

from pathlib import Path

from tutor.lesson import Lesson
from tutor.storage.files import write_atomically

MOST_BYTES = 1_000_000


class Notes:
    """The notes on a lesson.

    **Arguments:** `folder`: where the learner's code of the pack is.
    """

    def __init__(self, folder: Path, lesson: Lesson) -> None:
        self.path = folder / f"{lesson.id}.notes.md"

    def read(self) -> str:
        """Return the text; empty if there is none.

        Raises:
            OSError: the file cannot be read, or is no text that can be shown here.
        """
        try:
            with self.path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise OSError(0, f"larger than {MOST_BYTES:,} bytes", str(self.path))
            return data.decode()
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise OSError(0, "not UTF-8", str(self.path)) from None

    def write(self, text: str) -> None:
        """Replace the text. Without any, there is no file.

        Raises:
            OSError: it could not be written; the file is as it was.
        """
        if text.strip() or self.path.exists():
            write_atomically(self.path, text.encode())
