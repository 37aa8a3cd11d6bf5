"""Submissions: who handed in what for which lesson, and reading it.

A batch may be large, so only names are kept; each file is read when its turn comes. Where it is
not clear what somebody wants to have graded, nothing is guessed that would cost them marks: it is
told, and the submission waits for a person.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct
from msgspec.structs import replace

from tutor.grading.late import EVERYBODY
from tutor.grading.lesson_names import Match, lesson_of, person_in
from tutor.grading.notebook import BadNotebook, code_of
from tutor.grading.owners import Owned, owned
from tutor.grading.student_names import alike, normalize_name
from tutor.grading.submission_files import (
    Files,
    FolderFiles,
    Identity,
    Unreadable,
    Unusable,
    ZipFiles,
    read_below,
)
from tutor.grading.table import hard_link, listed
from tutor.plain_text import one_line
from tutor.source_text import BadFile, decode_source
from tutor.suggestions import nearest

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


class SubmissionReader(Protocol):
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
    `lessons`: ids of those that are graded; `others`: of those that the pack has besides;
    `wrapper`: whether folders at the top may be others than students'.

    Raises:
        Unusable: they cannot be read at all.
    """

    def __init__(
        self,
        path: Path,
        lessons: Sequence[str],
        others: Iterable[str] = (),
        wrapper: bool = True,
    ) -> None:
        self._lessons = tuple(lessons)
        self._known = (*lessons, *(other for other in others if other not in lessons))
        self._wrapper = wrapper
        self._files: Files | None = None
        self._people: dict[str, dict[str, str]] = defaultdict(dict)
        self._same: dict[Identity, dict[str, str]] = defaultdict(dict)
        self.problems: list[str] = []
        if path.is_dir():
            self._files = FolderFiles(path)
        elif not path.is_file():
            what = "not a file" if path.exists() else "no such file or folder"
            raise Unusable(f"{path}: {what}; give a folder, a zip or a CSV with submissions")
        elif path.suffix.casefold() == ".csv":
            rows, shared = listed(path, self._lessons, self._known)
            self._read: Callable[[str], bytes] = partial(read_below, path.parent, shared)
            self.all = self._ordered(
                Submission(row.name, row.lesson, row.path, (), row.submitted_at, row.fault)
                for row in rows
            )
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
            found = self._sorted_out(self._files)
        except BaseException:
            self.close()
            raise
        self.problems += self._files.problems
        self.all = self._ordered(found)

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
        """Return them in their order. Whatever names they came with, all that is shown of them is
        harmless from here on."""
        places = {lesson: place for place, lesson in enumerate(self._lessons)}
        ordered = sorted(found, key=lambda s: (*by_name(s.name), places[s.lesson]))
        for names in alike(one.name for one in ordered):
            shown = ", ".join(map(repr, names))
            what = "look the same, and each is graded by itself; rename one, or put its files"
            self.problems.append(f"the names {shown} {what} into the other's folder")
        self.problems = [one_line(problem) for problem in self.problems]
        return tuple(
            replace(
                one,
                notes=tuple(map(one_line, one.notes)),
                fault=one_line(self._fault_of_owner(one.name) or one.fault),
            )
            for one in ordered
        )

    def _fault_of_owner(self, name: str) -> str:
        """Return why nothing under this name can be graded."""
        if name == EVERYBODY:
            return f"called {EVERYBODY}, which stands for everybody where times are told; rename it"
        people = self._people.get(name, {})
        if len(people) > 1:
            files = ", ".join([*people.values()][:5])
            return (
                f"could be {len(people)} people's, whose names look the same: {files}; rename one, "
                "or put its files into the other's folder"
            )
        return ""

    # --- whose, and for which lesson ---------------------------------------------------------

    def _sorted_out(self, files: Files) -> list[Submission]:
        theirs: dict[str, list[Owned]] = defaultdict(list)
        flat = []
        for file in owned(files, files.names(), self._lessons, self._known, self._wrapper):
            if file.owner:
                theirs[file.owner].append(self._noted(file.owner, file.who, file))
            else:
                flat.append(file)
        candidates: dict[tuple[str, str], list[tuple[Match, Owned]]] = defaultdict(list)
        for owner, who, match, file in self._flat(flat, files.name):
            if owner:
                found = match, self._noted(owner, who, file)
                candidates[owner, match.lesson].append(found)
            else:
                self.problems.append(f"{file.name}: a name that cannot be seen; rename it")
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

    def _noted(self, owner: str, who: str, file: Owned) -> Owned:
        """Remember who has which file, by what tells people apart."""
        assert self._files is not None
        self._people[owner].setdefault(who, file.name)
        if (identity := self._files.shared.get(file.name)) is not None:
            self._same[identity].setdefault(who, file.name)
        return file

    def _fault_of_link(self, name: str) -> str:
        """Return what is wrong with a file that is somebody else's, too."""
        assert self._files is not None
        identity = self._files.shared.get(name)
        holders = self._same[identity] if identity is not None else {}
        return hard_link(name, [*holders.values()]) if len(holders) > 1 else ""

    def _flat(self, flat: list[Owned], name: str) -> Iterable[tuple[str, str, Match, Owned]]:
        """Files that lie in no folder of their owner's, with what these are called, and how that is
        written. Those that are called like lessons are all of one person, whose folder this is."""
        of_one = False
        unclear = []
        for file in flat:
            match = lesson_of(file.stem, (), self._known) if file.is_source else None
            if match is not None and match.rank < 2:
                of_one = True
                if match.lesson in self._lessons:
                    yield normalize_name(name), name, match, file
            elif match is not None and match.rank == 2 and (person := person_in(match.rest)):
                if match.lesson in self._lessons:
                    yield person, match.rest, match, file
            elif file.is_source and len(self._lessons) == 1:
                yield normalize_name(file.stem), file.stem, Match(self._lessons[0], 0), file
            else:
                unclear.append((file, match))
        for file, match in unclear:
            if of_one and match is not None and match.lesson in self._lessons:
                yield normalize_name(name), name, match, file
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
        for _, other in first:
            fault = fault or self._fault_of_link(other.name)
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


def read_code(data: bytes, name: str) -> str:
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
