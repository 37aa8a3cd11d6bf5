"""A table of submissions: a CSV by the grader with the columns `submission,lesson,path`.

The table is trusted. The files that it names are students' and may be links.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from tutor.grading.csv_table import read_rows
from tutor.grading.layout import is_source
from tutor.grading.student_names import normalize_name
from tutor.grading.submission_directory import open_below
from tutor.grading.submission_files import Identity, Unreadable, Unusable, name_fault
from tutor.suggestions import nearest

COLUMNS = ("submission", "lesson", "path", "submitted_at")


class TableEntry(Struct, frozen=True):
    """A submission to one lesson, as listed in the table."""

    name: str
    lesson: str
    path: str
    submitted_at: str
    fault: str


def read_table(
    path: Path, lessons: Sequence[str], known: Sequence[str]
) -> tuple[list[TableEntry], dict[str, Identity]]:
    """Return the entries for these lessons, and which of their files are hard links.

    **Arguments:** `known`: all lessons of the pack.

    Raises:
        Unusable: the table is not valid; with line and column if known.
    """
    rows: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    spellings: dict[str, set[str]] = defaultdict(set)
    for line, cells in read_rows(path, ("submission", "path"), COLUMNS):
        name, lesson = normalize_name(cells["submission"]), cells["lesson"]
        location = f"{path}:{line}:1"
        if not name or not cells["path"]:
            raise Unusable(f"{location}: a row needs a submission and a path")
        if fault := name_fault(name):
            raise Unusable(f"{location}: submission: {fault}")
        if not lesson and len(lessons) == 1:
            lesson = lessons[0]
        if lesson not in known:
            near = nearest(lesson, known) or f"; available: {', '.join(known[:12])}"
            raise Unusable(f"{location}: the pack has no lesson {lesson!r}{near}")
        spellings[name].add(cells["submission"])
        if lesson in lessons:
            rows[name, lesson].append(cells)
    paths = (cells["path"] for listed in rows.values() for cells in listed)
    hard_linked = _hard_linked(path.parent, paths)
    faults = _hard_link_faults(rows, hard_linked)
    entries = [
        _entry(name, lesson, listed, spellings[name], faults)
        for (name, lesson), listed in rows.items()
    ]
    return entries, hard_linked


def _entry(
    name: str,
    lesson: str,
    rows: Sequence[Mapping[str, str]],
    spellings: set[str],
    faults: Mapping[str, str],
) -> TableEntry:
    paths = list(dict.fromkeys(cells["path"] for cells in rows))
    path, fault = paths[0], ""
    if len(spellings) > 1:
        fault = f"spelled in {len(spellings)} ways that look the same; use one spelling"
    elif len(paths) > 1:
        fault = f"listed more than once: {', '.join(paths)}; keep the one that counts"
    elif not is_source(path):
        fault = f"{path}: not a Python file or notebook; ask for one"
    elif path in faults:
        fault = faults[path]
    return TableEntry(name, lesson, path, rows[0]["submitted_at"], fault)


def _hard_linked(folder: Path, paths: Iterable[str]) -> dict[str, Identity]:
    found: dict[str, Identity] = {}
    for path in set(paths):
        try:
            with open_below(folder, path) as descriptor:
                status = os.fstat(descriptor)
        except Unreadable:
            continue  # reported when it is read
        if status.st_nlink > 1:
            found[path] = status.st_dev, status.st_ino
    return found


def _hard_link_faults(
    rows: Mapping[tuple[str, str], Sequence[Mapping[str, str]]], hard_linked: Mapping[str, Identity]
) -> dict[str, str]:
    """Return the faults of paths that are hard links to another student's file."""
    owners: dict[Identity, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (name, _), listed in rows.items():
        for path in (cells["path"] for cells in listed):
            if path in hard_linked:
                owners[hard_linked[path]][path].add(name)
    return {
        path: hard_link_fault(path, [*paths])
        for paths in owners.values()
        if len(paths) > 1 and len(set.union(*paths.values())) > 1
        for path in paths
    }


def hard_link_fault(path: str, others: Sequence[str]) -> str:
    """Return the fault of a file that is also another student's."""
    names = ", ".join(other for other in others if other != path)
    return f"{path}: the same file on this disk as {names} (a hard link); ask for a copy"
