"""`students/NAME.html`: a page for each student, with what the pack lets students see.

That is: the score and lateness, the names, points and messages of visible checks, and of all others
their number and points. Notes and a person's reasons stay with those who grade: they may name
other students.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tutor.files import write_atomically
from tutor.grading.outputs.filenames import FileNames
from tutor.grading.outputs.grouping import by_submission
from tutor.grading.outputs.pages import template
from tutor.grading.outputs.sources import Sources
from tutor.grading.result import Batch, Result


def students(
    batch: Batch, folder: Path, sources: Sources
) -> AbstractContextManager[Callable[[Result], None]]:
    """See `tutor.grading.outputs`."""
    names = FileNames()
    page = template("student.html")

    def write(results: Sequence[Result]) -> None:
        name = results[0].submission
        text = page.render(name=name, pack=batch.pack, version=batch.pack_version, results=results)
        write_atomically(folder / "students" / f"{names.of(name)}.html", text.encode())

    return by_submission(write)
