"""What graders get out of a batch: one function for each format, chosen by name.

    with FORMATS["gradebook.csv"](batch, folder, sources) as add:
        for result in results:
            add(result)

A format is a context manager. Entered, it begins its files; the function it gives takes one result
after the other, in the order of the submissions, then of the lessons; left, it completes the files.
Left by an exception, it leaves those as they were that it had not completed. What it keeps in
memory does not grow with the batch, but for counts, names and, for `similarity`, fingerprints. All
of it can be made again from the journal, so nobody waits for the disk to have a thousand pages.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TypeAlias

from tutor.grading.outputs.export import export
from tutor.grading.outputs.gradebook import gradebook
from tutor.grading.outputs.gradescope_results import gradescope
from tutor.grading.outputs.junit import junit
from tutor.grading.outputs.report_page import report
from tutor.grading.outputs.similarity_page import similarity
from tutor.grading.outputs.sources import Sources, SubmittedSources
from tutor.grading.outputs.student_pages import students
from tutor.grading.result import Batch, Result
from tutor.suggestions import nearest

__all__ = ["FORMATS", "BadFormat", "Sources", "SubmittedSources", "chosen", "write"]

Format: TypeAlias = Callable[
    [Batch, Path, Sources], AbstractContextManager[Callable[[Result], None]]
]

FORMATS: dict[str, Format] = {
    "gradebook.csv": gradebook,
    "junit.xml": junit,
    "report.html": report,
    "students": students,
    "gradescope": gradescope,
    "similarity": similarity,
    "export": export,
}

_SHORT = {
    "csv": "gradebook.csv",
    "gradebook": "gradebook.csv",
    "junit": "junit.xml",
    "html": "report.html",
    "report": "report.html",
    "students/NAME.html": "students",
    "gradescope/NAME/results.json": "gradescope",
    "similarity.html": "similarity",
    "similarity.json": "similarity",
    "jplag": "export",
    "moss": "export",
}


class BadFormat(ValueError):
    """A format that there is none of; the message says which there are."""


def chosen(text: str) -> list[str]:
    """The formats in a list with commas, such as `gradebook.csv,junit.xml`; `all` is every one.

    `results.jsonl` is written always, so it may be named.

    Raises:
        BadFormat: one is none.
    """
    found: dict[str, None] = {}
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name == "all":
            found |= dict.fromkeys(FORMATS)
        elif name not in ("results.jsonl", "jsonl"):
            known = _SHORT.get(name, name)
            if known not in FORMATS:
                hint = nearest(name, FORMATS) or f"; there are: {', '.join(FORMATS)}"
                raise BadFormat(f"there is no format {name!r}{hint}")
            found[known] = None
    return list(found)


def write(
    batch: Batch,
    results: Iterable[Result],
    folder: Path,
    formats: Sequence[str],
    sources: Sources,
) -> None:
    """Write all these formats into `folder`, in one pass.

    **Arguments:** `batch`: what is known of it as a whole; its own `results` are not looked at.
    `results`: in the order of the submissions, then of the lessons.

    Raises:
        OSError: something could not be written. Every file is whole, or as it was.
    """
    with ExitStack() as stack:
        takers = [stack.enter_context(FORMATS[name](batch, folder, sources)) for name in formats]
        for result in results:
            for add in takers:
                add(result)
