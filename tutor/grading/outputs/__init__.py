"""The output formats of a batch: one function per format, selected by name.

    with FORMATS["gradebook.csv"](batch, folder, reader) as add:
        for result in results:
            add(result)

A format is a context manager. Entering it begins its files and yields a function that takes one
result at a time, ordered by submission, then by lesson; leaving it completes the files. If an
exception leaves it, files that were not complete stay as they were. Memory does not grow with the
batch, except for counts and names. Everything can be made again from the journal, so files are not
synced to disk one by one.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TypeAlias

from tutor.grading.outputs.code_reader import CodeReader, SubmissionCodeReader
from tutor.grading.outputs.export import write_export
from tutor.grading.outputs.gradebook import write_gradebook
from tutor.grading.outputs.gradescope_results import write_gradescope
from tutor.grading.outputs.junit import write_junit
from tutor.grading.outputs.report_page import write_report
from tutor.grading.outputs.student_pages import write_student_pages
from tutor.grading.result import Batch, Result
from tutor.suggestions import nearest

__all__ = ["FORMATS", "BadFormat", "CodeReader", "SubmissionCodeReader", "parse_formats", "write"]

Format: TypeAlias = Callable[
    [Batch, Path, CodeReader], AbstractContextManager[Callable[[Result], None]]
]

FORMATS: dict[str, Format] = {
    "gradebook.csv": write_gradebook,
    "junit.xml": write_junit,
    "report.html": write_report,
    "students": write_student_pages,
    "gradescope": write_gradescope,
    "export": write_export,
}

_ALIASES = {
    "csv": "gradebook.csv",
    "gradebook": "gradebook.csv",
    "junit": "junit.xml",
    "html": "report.html",
    "report": "report.html",
    "students/NAME.html": "students",
    "gradescope/NAME/results.json": "gradescope",
    "jplag": "export",
    "compare50": "export",
    "moss": "export",
}


class BadFormat(ValueError):
    """An unknown format; the message lists the known ones."""


def parse_formats(text: str) -> list[str]:
    """Return the formats in a comma-separated list such as `gradebook.csv,junit.xml`; `all` means
    every format. `results.jsonl` is always written, so it is accepted and ignored.

    Raises:
        BadFormat: a format is unknown.
    """
    formats: dict[str, None] = {}
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name == "all":
            formats |= dict.fromkeys(FORMATS)
        elif name not in ("results.jsonl", "jsonl"):
            known = _ALIASES.get(name, name)
            if known not in FORMATS:
                hint = nearest(name, FORMATS) or f"; available: {', '.join(FORMATS)}"
                raise BadFormat(f"there is no format {name!r}{hint}")
            formats[known] = None
    return list(formats)


def write(
    batch: Batch,
    results: Iterable[Result],
    folder: Path,
    formats: Sequence[str],
    reader: CodeReader,
) -> None:
    """Write these formats into `folder`, in one pass.

    **Arguments:** `batch`: its own `results` are ignored; `results`: ordered by submission, then by
    lesson.

    Raises:
        OSError: a file could not be written. Every file is complete or unchanged.
    """
    with ExitStack() as stack:
        writers = [stack.enter_context(FORMATS[name](batch, folder, reader)) for name in formats]
        for result in results:
            for add in writers:
                add(result)
