"""CSV tables written by the grader."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from tutor.foreign.plain_text import one_line
from tutor.foreign.source_text import BadFile, decode_source
from tutor.grading.submission_directory import read_trusted_file
from tutor.grading.submission_files import Unreadable, Unusable


def read_rows(
    path: Path, required: Sequence[str], columns: Sequence[str]
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a table with their line numbers; missing cells are empty.

    **Arguments:** `required`: columns that the table must have; `columns`: all that are read.

    Raises:
        Unusable: the table cannot be read; with line and column if known.
    """
    try:
        text = decode_source(read_trusted_file(path, str(path)), str(path))
    except (Unreadable, BadFile) as error:
        raise Unusable(one_line(str(error))) from None
    head = text.partition("\n")[0]
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter=";" if ";" in head and "," not in head else ","
    )
    try:
        names = [name.strip().casefold() for name in reader.fieldnames or ()]
        for name in required:
            if name not in names:
                raise Unusable(
                    f"{path}:1:1: there is no column {name!r}; the first line must be "
                    f"{','.join(columns)}"
                )
        reader.fieldnames = names
        rows = []
        for row in reader:
            cells = {key: (row.get(key) or "").strip() for key in columns}
            if any(cells.values()):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise Unusable(f"{path}:{reader.line_num}:1: {error}; save it as CSV") from None
    return rows
