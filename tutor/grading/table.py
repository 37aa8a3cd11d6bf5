"""A table of submissions: who handed in what for which lesson, in a CSV of the grader's own.

The table is the grader's word. The files that it names are students', and may be links.
"""

import csv
import io
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tutor.grading.layout import is_source
from tutor.grading.student_names import normalize_name
from tutor.grading.submission_files import (
    Identity,
    Unreadable,
    Unusable,
    fault_of_name,
    opened,
    read_file,
)
from tutor.plain_text import one_line
from tutor.source_text import BadFile, decode_source
from tutor.suggestions import nearest

COLUMNS = ("submission", "lesson", "path", "submitted_at")


class Listed(Struct, frozen=True):
    """What one person handed in for one lesson, as the table has it."""

    name: str
    lesson: str
    path: str
    submitted_at: str
    fault: str


def listed(
    path: Path, lessons: Sequence[str], known: Sequence[str]
) -> tuple[list[Listed], dict[str, Identity]]:
    """Return what a table lists for these lessons, and which of the files have another name, too.

    **Arguments:** `known`: all lessons of the pack.

    Raises:
        Unusable: it is no such table; with line and column where there is one.
    """
    found: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    written: dict[str, set[str]] = defaultdict(set)
    for line, cells in rows_of(path, ("submission", "path"), COLUMNS):
        name, lesson = normalize_name(cells["submission"]), cells["lesson"]
        place = f"{path}:{line}:1"
        if not name or not cells["path"]:
            raise Unusable(f"{place}: a row needs a submission and a path")
        if fault := fault_of_name(name):
            raise Unusable(f"{place}: submission: {fault}")
        if not lesson and len(lessons) == 1:
            lesson = lessons[0]
        if lesson not in known:
            near = nearest(lesson, known) or f"; available: {', '.join(known[:12])}"
            raise Unusable(f"{place}: the pack has no lesson {lesson!r}{near}")
        written[name].add(cells["submission"])
        if lesson in lessons:
            found[name, lesson].append(cells)
    shared = _shared(path.parent, (cells["path"] for rows in found.values() for cells in rows))
    links = _links(found, shared)
    return [
        _listed(name, lesson, rows, written[name], links) for (name, lesson), rows in found.items()
    ], shared


def _listed(
    name: str,
    lesson: str,
    rows: Sequence[Mapping[str, str]],
    written: set[str],
    links: Mapping[str, str],
) -> Listed:
    paths = list(dict.fromkeys(cells["path"] for cells in rows))
    path, fault = paths[0], ""
    if len(written) > 1:
        fault = f"written in {len(written)} ways that look the same; write each name in one way"
    elif len(paths) > 1:
        fault = f"listed more than once: {', '.join(paths)}; keep the one that counts"
    elif not is_source(path):
        fault = f"{path}: no Python file and no notebook; have one handed in"
    elif path in links:
        fault = links[path]
    return Listed(name, lesson, path, rows[0]["submitted_at"], fault)


def _shared(folder: Path, paths: Iterable[str]) -> dict[str, Identity]:
    """Return which of the files have another name, too."""
    found: dict[str, Identity] = {}
    for path in set(paths):
        try:
            with opened(folder, path) as descriptor:
                about = os.fstat(descriptor)
        except Unreadable:
            continue  # told when it is read
        if about.st_nlink > 1:
            found[path] = about.st_dev, about.st_ino
    return found


def _links(
    found: Mapping[tuple[str, str], Sequence[Mapping[str, str]]], shared: Mapping[str, Identity]
) -> dict[str, str]:
    """Return what is wrong with paths that are hard links to somebody else's file."""
    holders: dict[Identity, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (name, _), rows in found.items():
        for path in (cells["path"] for cells in rows):
            if path in shared:
                holders[shared[path]][path].add(name)
    return {
        path: hard_link(path, [*paths])
        for paths in holders.values()
        if len(paths) > 1 and len(set.union(*paths.values())) > 1
        for path in paths
    }


def hard_link(path: str, others: Sequence[str]) -> str:
    """Say what is wrong with a file that is somebody else's, too."""
    shown = ", ".join(other for other in others if other != path)
    return f"{path}: the same file on this disk as {shown} (a hard link); have a copy handed in"


def rows_of(
    path: Path, required: Sequence[str], known: Sequence[str]
) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV with their line numbers; cells that are not there are empty.

    Raises:
        Unusable: it is no such table; with line and column where there is one.
    """
    try:
        text = decode_source(read_file(path, str(path)), str(path))
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
                listed = ",".join(known)
                raise Unusable(
                    f"{path}:1:1: there is no column {name!r}; the first line is {listed}"
                )
        reader.fieldnames = names
        rows = []
        for row in reader:
            cells = {key: (row.get(key) or "").strip() for key in known}
            if any(cells.values()):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise Unusable(f"{path}:{reader.line_num}:1: {error}; save it as CSV") from None
    return rows
