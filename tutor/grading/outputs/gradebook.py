"""`gradebook.csv`: a row per submission, a column per lesson.

UTF-8 with a byte order mark: without it, Excel assumes the system's legacy code page and garbles
every name that is not ASCII. LibreOffice and pandas accept the mark; for Python's `csv` the
encoding is `utf-8-sig`. A missing score is an empty cell, never 0, and so is that row's total. Text
is quoted and numbers are not: LibreOffice can respect that, so a student called 007
keeps the name.
"""

import codecs
import csv
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tutor.foreign.plain_text import one_line
from tutor.grading.outputs.code_reader import CodeReader
from tutor.grading.outputs.grouping import AddResult, by_submission, reasons, total
from tutor.grading.result import Batch, Result
from tutor.storage.files import replacing

_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of control characters. A code point unknown to Python is not among them: it
may be a letter of somebody's name."""

_FIXED_COLUMNS = ("submission", "total", "late", "notes")
# A spreadsheet evaluates a cell that begins like this (OWASP, "CSV Injection"), full-width forms
# included. Where the decimal separator is a comma, it may split cells at semicolons, even in
# quotes.
FORMULA = re.compile(r"(^|;)([\s']*[=+\-@＝＋－＠])")


@contextmanager
def write_gradebook(batch: Batch, folder: Path, reader: CodeReader) -> Iterator[AddResult]:
    """See `tutor.grading.outputs`."""
    with replacing(folder / "gradebook.csv") as file:
        table = csv.writer(codecs.getwriter("utf-8-sig")(file), quoting=csv.QUOTE_NONNUMERIC)
        # A lesson's id may equal a fixed column's name.
        lessons = [f"lesson {name}" if name in _FIXED_COLUMNS else name for name in batch.lessons]
        table.writerow(["submission", *lessons, "total", "late", "notes"])

        def write(results: Sequence[Result]) -> None:
            table.writerow(_row(results, batch.lessons))

        with by_submission(write) as add:
            yield add


def _row(results: Sequence[Result], lessons: Sequence[str]) -> list[float | str]:
    scores = {result.lesson: result.final for result in results}
    late = max((result.late.days for result in results if result.late is not None), default=None)
    notes = [f"{result.lesson}: {reason}" for result in results for reason in reasons(result)]
    notes += [f"{lesson}: not handed in" for lesson in lessons if lesson not in scores]
    return [
        escape_cell(results[0].submission),
        *(_number_cell(scores.get(lesson)) for lesson in lessons),
        _number_cell(total(results)),
        _number_cell(late),
        escape_cell(" | ".join(notes)),
    ]


def _number_cell(value: float | None) -> float | str:
    if value is None:
        return ""
    return int(value) if value.is_integer() else value


def escape_cell(text: str) -> str:
    """Return text that no spreadsheet evaluates: an apostrophe precedes what would begin a formula,
    and apostrophes there, so that one can be removed. Control characters are replaced by
    visible ones."""
    visible = "".join(
        one_line(character) if unicodedata.category(character) in _INVISIBLE else character
        for character in text
    )
    return FORMULA.sub(r"\1'\2", visible)
