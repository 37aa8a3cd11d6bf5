"""`students/NAME.html`: a page per student, with what the pack lets students see.

`filenames.py` makes the file names; `student_view.py` decides what the page shows.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from tutor.grading.outputs.code_reader import CodeReader
from tutor.grading.outputs.filenames import FileNames
from tutor.grading.outputs.grouping import AddResult, by_submission
from tutor.grading.outputs.pages import load_template
from tutor.grading.outputs.student_view import student_view
from tutor.grading.result import Batch, Result
from tutor.storage.files import write_atomically


def write_student_pages(
    batch: Batch, folder: Path, reader: CodeReader
) -> AbstractContextManager[AddResult]:
    """See `tutor.grading.outputs`."""
    names = FileNames()
    template = load_template("student.html")

    def write(results: Sequence[Result]) -> None:
        name = results[0].submission
        views = [(result, student_view(result)) for result in results]
        page = template.render(batch=batch, name=name, results=views)
        path = folder / "students" / f"{names.of(name)}.html"
        write_atomically(path, page.encode(), durable=False)

    return by_submission(write)
