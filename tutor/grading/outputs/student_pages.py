"""`students/NAME.html`: a page for each student, with what the pack lets students see.

The file is named like the submission as far as that can be a file's name (`filenames.py`); on the
page stands what `seen.py` lets through, and nothing of anybody else.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tutor.files import write_atomically
from tutor.grading.outputs.filenames import FileNames
from tutor.grading.outputs.grouping import by_submission
from tutor.grading.outputs.pages import template
from tutor.grading.outputs.seen import seen
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
        text = page.render(batch=batch, name=name, results=[(one, seen(one)) for one in results])
        write_atomically(
            folder / "students" / f"{names.of(name)}.html", text.encode(), durable=False
        )

    return by_submission(write)
