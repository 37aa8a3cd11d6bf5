"""`export/LESSON`: submissions in the form that JPlag, compare50 and MOSS expect.

    export/double/base/double.py                 the starter, which they ignore in submissions
    export/double/submissions/NAME/double.py     a directory for each submission
    export/README.txt                            the commands

Nothing is uploaded.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tutor.grading.outputs.code_reader import CodeReader
from tutor.grading.outputs.filenames import FileNames
from tutor.grading.outputs.grouping import AddResult
from tutor.grading.result import Batch, Result
from tutor.storage.files import write_atomically

README = """\
In a lesson's directory:

    java -jar jplag.jar -l python3 -bc base submissions
    compare50 submissions/* -d base
    moss -l python -d -b base/*.py submissions/*/*.py

JPlag and compare50 work on this machine. MOSS uploads everything to a server, including directory
names.
"""


@contextmanager
def write_export(batch: Batch, folder: Path, reader: CodeReader) -> Iterator[AddResult]:
    """See `tutor.grading.outputs`."""
    root = folder / "export"
    names = {lesson: FileNames() for lesson in batch.lessons}
    for lesson in batch.lessons:
        _write(root / lesson / "base" / f"{lesson}.py", reader.starter(lesson))

    def add(result: Result) -> None:
        code = reader.code(result) if result.source else None
        if code is not None:
            name = names[result.lesson].of(result.submission)
            _write(root / result.lesson / "submissions" / name / f"{result.lesson}.py", code)

    yield add
    write_atomically(root / "README.txt", README.encode(), durable=False)


def _write(path: Path, code: str) -> None:
    write_atomically(path, code.encode(errors="replace"), durable=False)
