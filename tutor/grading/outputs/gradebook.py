"""`gradebook.csv`: a row for each submission, a column for each lesson.

UTF-8 with a byte order mark: without one Excel takes a CSV file for the system's old code page and
spoils every name that is not English. LibreOffice and pandas know the mark; with Python's `csv` the
encoding is `utf-8-sig`. A mark that a person has yet to give is an empty cell, never 0, and so is
the total of that row. Text is in quotes and numbers are not: LibreOffice can be told to go by that,
so that a student called 007 keeps the name.
"""

import codecs
import csv
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tutor.files import replacing
from tutor.grading.outputs.grouping import by_submission, reasons, total
from tutor.grading.outputs.sources import Sources
from tutor.grading.result import Batch, Result
from tutor.plain_text import one_line

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that are obeyed, not shown. One that Python does not know yet may be a
letter of somebody's name."""

_FIXED = ("submission", "total", "late", "notes")
# A spreadsheet computes what begins like this (OWASP, "CSV Injection"), wide letters included. It
# may take a semicolon for the end of a cell, whatever quotes say, where commas are for decimals.
_FORMULA = re.compile(r"(^|;)([\s']*[=+\-@＝＋－＠])")

_INERT = re.compile(_FORMULA.pattern.replace(";)", ";)'"))


@contextmanager
def gradebook(batch: Batch, folder: Path, sources: Sources) -> Iterator[Callable[[Result], None]]:
    """See `tutor.grading.outputs`."""
    with replacing(folder / "gradebook.csv") as file:
        table = csv.writer(codecs.getwriter("utf-8-sig")(file), quoting=csv.QUOTE_NONNUMERIC)
        # A lesson may be called like one of our own columns.
        lessons = [f"lesson {name}" if name in _FIXED else name for name in batch.lessons]
        table.writerow(["submission", *lessons, "total", "late", "notes"])

        def row(results: Sequence[Result]) -> None:
            table.writerow(_row(results, batch.lessons))

        with by_submission(row) as add:
            yield add


def _row(results: Sequence[Result], lessons: Sequence[str]) -> list[float | str]:
    scores = {result.lesson: result.final for result in results}
    late = max((result.late.days for result in results if result.late is not None), default=None)
    notes = [f"{result.lesson}: {reason}" for result in results for reason in reasons(result)]
    notes += [f"{lesson}: not handed in" for lesson in lessons if lesson not in scores]
    return [
        text_cell(results[0].submission),
        *(_number_cell(scores.get(lesson)) for lesson in lessons),
        _number_cell(total(results)),
        _number_cell(late),
        text_cell(" | ".join(notes)),
    ]


def _number_cell(value: float | None) -> float | str:
    if value is None:
        return ""
    return int(value) if value.is_integer() else value


def text_cell(text: str) -> str:
    """Text that no spreadsheet computes: an apostrophe goes before what begins a formula, and
    before the apostrophes there, so that `plain_text` can take it away again. What cannot be seen,
    or turns text around, is shown as a picture."""
    visible = "".join(
        one_line(one) if unicodedata.category(one) in _UNSEEN else one for one in text
    )
    return _FORMULA.sub(r"\1'\2", visible)


def plain_text(cell: str) -> str:
    """What `text_cell` was given, but for what cannot be seen."""
    return _INERT.sub(r"\1\2", cell)
