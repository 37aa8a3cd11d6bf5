"""Submissions: who handed in what for which lesson, and reading it.

A batch may be large, so only names are kept; each file is read when its turn comes. Where it is
not clear what somebody wants to have graded, nothing is guessed that would cost them marks: it is
told, and the submission waits for a person.
"""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

from tutor.grading.handed_in import (
    Files,
    FolderFiles,
    Unreadable,
    Unusable,
    ZipFiles,
    fault_of_name,
    read_file,
)
from tutor.grading.naming import Match, lesson_of
from tutor.grading.notebook import BadNotebook, code_of
from tutor.grading.owners import SOURCES, Owned, clean, owned
from tutor.pack.structs import nearest
from tutor.sandbox.output import one_line
from tutor.workspace import BadFile, decode_source

COLUMNS = ("submission", "lesson", "path", "submitted_at")
_MEANT = 5
"""The rank of the only file of somebody, where only one lesson is graded."""


class Submission(Struct, frozen=True):
    """What one person handed in for one lesson. `source` is where it is inside the submissions;
    `fault` says why there is nothing to grade."""

    name: str
    lesson: str
    source: str
    notes: tuple[str, ...] = ()
    submitted_at: str = ""
    fault: str = ""


class HandedIn(Protocol):
    """What grading needs to know of submissions."""

    @property
    def all(self) -> Sequence[Submission]:
        """In the order of names, then of lessons."""

    def read(self, source: str) -> bytes:
        """What a file holds.

        Raises:
            Unreadable: it cannot be read.
        """


class Submissions:
    """Use as a context manager. `all` is in the order of names, then of lessons; `problems` are
    files that are nobody's submission, with what to do.

    **Arguments:** `path`: a folder, a zip or a CSV with the columns `submission,lesson,path`;
    `lessons`: ids of those that are graded; `others`: of those that the pack has besides.

    Raises:
        Unusable: they cannot be read at all.
    """

    def __init__(self, path: Path, lessons: Sequence[str], others: Iterable[str] = ()) -> None:
        self._lessons = tuple(lessons)
        self._known = (*lessons, *(other for other in others if other not in lessons))
        self._files: Files | None = None
        self.problems: list[str] = []
        if path.is_dir():
            self._files = FolderFiles(path)
        elif not path.is_file():
            what = "not a file" if path.exists() else "no such file or folder"
            raise Unusable(f"{path}: {what}; give a folder, a zip or a CSV with submissions")
        elif path.suffix.casefold() == ".csv":
            found = _table(path, self._lessons, self._known)
            self._read: Callable[[str], bytes] = lambda name: read_named(path.parent, name)
            self.all = self._ordered(found)
            return
        elif path.suffix.casefold() == ".zip":
            self._files = ZipFiles(path)
        else:
            raise Unusable(
                f"{path}: expected a folder, a .zip or a .csv of submissions; to check one file: "
                f"jaxtutor check {self._lessons[0]} {path}"
            )
        self._read = self._files.read
        self._files.__enter__()
        try:
            self.all = self._ordered(self._sorted_out(self._files))
        except BaseException:
            self.close()
            raise
        self.problems += self._files.problems

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the zip."""
        if self._files is not None:
            self._files.__exit__(None, None, None)

    def read(self, source: str) -> bytes:
        """What a file holds.

        Raises:
            Unreadable: it cannot be read.
        """
        return self._read(source)

    def _ordered(self, found: Iterable[Submission]) -> tuple[Submission, ...]:
        places = {lesson: place for place, lesson in enumerate(self._lessons)}
        return tuple(sorted(found, key=lambda s: (*by_name(s.name), places[s.lesson])))

    # --- whose, and for which lesson ---------------------------------------------------------

    def _sorted_out(self, files: Files) -> list[Submission]:
        theirs: dict[str, list[Owned]] = defaultdict(list)
        flat = []
        for file in owned(files, files.names()):
            if file.owner:
                theirs[file.owner].append(file)
            else:
                flat.append(file)
        candidates: dict[tuple[str, str], list[tuple[Match, Owned]]] = defaultdict(list)
        for owner, match, file in self._flat(flat, clean(files.name)):
            candidates[owner, match.lesson].append((match, file))
        faults = []
        for owner, mine in theirs.items():
            matches, fault = self._matched(owner, mine)
            faults += [fault] if fault is not None else []
            for match, file in matches:
                candidates[owner, match.lesson].append((match, file))
        chosen = [self._chosen(*key, found) for key, found in candidates.items()]
        return [
            *chosen,
            *(fault for fault in faults if (fault.name, fault.lesson) not in candidates),
        ]

    def _flat(self, flat: list[Owned], name: str) -> Iterable[tuple[str, Match, Owned]]:
        """Files that lie in no folder of their owner's. Those that are called like lessons are all
        of one person, whose folder this is."""
        of_one = False
        unclear = []
        for file in flat:
            match = lesson_of(file.stem, (), self._known) if file.is_source else None
            if match is not None and match.rank < 2:
                of_one = True
                if match.lesson in self._lessons:
                    yield name, match, file
            elif match is not None and match.rank == 2 and clean(match.rest):
                if match.lesson in self._lessons:
                    yield clean(match.rest), match, file
            elif file.is_source and len(self._lessons) == 1:
                yield clean(file.stem), Match(self._lessons[0], 0), file
            else:
                unclear.append((file, match))
        for file, match in unclear:
            if of_one and match is not None and match.lesson in self._lessons:
                yield name, match, file
            else:
                self.problems.append(f"{file.name}: {self._unclear(file)}")

    def _matched(
        self, owner: str, mine: list[Owned]
    ) -> tuple[list[tuple[Match, Owned]], Submission | None]:
        """What of somebody's files is for which lesson; where nothing is, why there is nothing to
        grade."""
        found, unclear = [], []
        sources = [file for file in mine if file.is_source]
        for file in sources:
            match = lesson_of(file.stem, file.inside[:-1], self._known)
            if match is not None:
                found.append((match, file))
            else:
                unclear.append(file)
        only = self._lessons[0] if len(self._lessons) == 1 else None
        if only is not None and not found and len(sources) == 1:
            return [(Match(only, _MEANT), sources[0])], None
        wanted = [(match, file) for match, file in found if match.lesson in self._lessons]
        if only is not None and not found:
            listed = ", ".join(file.name for file in (sources or mine)[:5])
            fault = f"which file is it? There are: {listed}; call it {only}.py"
            if not sources:
                fault = f"no Python file and no notebook: {listed}; have one handed in"
            return [], Submission(owner, only, (sources or mine)[0].name, fault=fault)
        self.problems += [f"{file.name}: {self._unclear(file)}" for file in unclear]
        if not sources:
            listed = ", ".join(file.name for file in mine[:5])
            self.problems.append(f"{owner}: no Python file and no notebook: {listed}")
        return wanted, None

    def _unclear(self, file: Owned) -> str:
        if not file.is_source:
            return "no Python file and no notebook; have one handed in"
        near = nearest(file.stem, self._lessons) or f"; they are: {', '.join(self._lessons[:12])}"
        return f"no lesson is called so{near}; rename it, and run it again with --resume"

    def _chosen(self, owner: str, lesson: str, found: list[tuple[Match, Owned]]) -> Submission:
        """The file that counts, if that is clear."""
        # Somebody who hands in `double.py` and `double (1).py` may mean either.
        best = min(max(match.rank, 1) for match, _ in found)
        first = [(match, file) for match, file in found if max(match.rank, 1) == best]
        match, file = first[0]
        notes = [_renamed(match, file)] if match.rank not in (0, 3) and file.owner else []
        fault = ""
        if len(first) > 1:
            listed = ", ".join(other.name for _, other in first)
            if self._equal([other.name for _, other in first]):
                notes.append(f"handed in more than once, always the same: {listed}")
            else:
                fault = f"handed in more than once: {listed}; keep the one that counts"
        if spare := [other.name for one, other in found if max(one.rank, 1) != best]:
            notes.append(f"not looked at: {', '.join(spare)}")
        return Submission(owner, lesson, file.name, tuple(notes), file.submitted_at, fault)

    def _equal(self, names: Sequence[str]) -> bool:
        try:
            return len({self.read(name) for name in names}) == 1
        except Unreadable:
            return False


def by_name(name: str) -> tuple[str, str]:
    """How submissions are sorted."""
    return name.casefold(), name


def source_text(data: bytes, name: str) -> str:
    """The Python in a file.

    Raises:
        Unreadable: there is none; the message says why.
    """
    try:
        if name.casefold().endswith(".ipynb"):
            return code_of(data)
        if not data.strip():
            raise Unreadable(f"{name}: the file is empty")
        return decode_source(data, name)
    except BadNotebook as error:
        raise Unreadable(f"{name}: {one_line(str(error))}") from None
    except BadFile as error:
        raise Unreadable(one_line(str(error))) from None


def _renamed(match: Match, file: Owned) -> str:
    why = "the only file" if match.rank == _MEANT else "the lesson that its name is nearest to"
    return f"{file.inside[-1]} was taken for {match.lesson}: {why}"


# --- a table of paths ------------------------------------------------------------------------


def read_named(folder: Path, name: str) -> bytes:
    """A file that a table names, from the table's folder on.

    Raises:
        Unreadable: it cannot be read, or is a link: whoever handed it in may have made it.
    """
    path = folder / name
    if path.is_symlink():
        raise Unreadable(f"{name}: a link; put the file itself there")
    return read_file(path, name)


def rows_of(
    path: Path, required: Sequence[str], known: Sequence[str]
) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV with their line numbers; cells that are not there are empty.

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


def _table(path: Path, lessons: Sequence[str], known: Sequence[str]) -> list[Submission]:
    found: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for line, cells in rows_of(path, ("submission", "path"), COLUMNS):
        name, lesson = clean(cells["submission"]), cells["lesson"]
        place = f"{path}:{line}:1"
        if not name or not cells["path"]:
            raise Unusable(f"{place}: a row needs a submission and a path")
        if fault := fault_of_name(name):
            raise Unusable(f"{place}: submission: {fault}")
        if not lesson and len(lessons) == 1:
            lesson = lessons[0]
        if lesson not in known:
            near = nearest(lesson, known) or f"; there are: {', '.join(known[:12])}"
            raise Unusable(f"{place}: the pack has no lesson {lesson!r}{near}")
        if lesson in lessons:
            found[name, lesson].append(cells)
    return [_row(name, lesson, rows) for (name, lesson), rows in found.items()]


def _row(name: str, lesson: str, rows: Sequence[Mapping[str, str]]) -> Submission:
    paths = list(dict.fromkeys(cells["path"] for cells in rows))
    fault = ""
    if len(paths) > 1:
        fault = f"listed more than once: {', '.join(paths)}; keep the one that counts"
    elif not re.search(f"({'|'.join(map(re.escape, SOURCES))})$", paths[0].casefold()):
        fault = f"{paths[0]}: no Python file and no notebook; have one handed in"
    return Submission(name, lesson, paths[0], (), rows[0]["submitted_at"], fault)
