"""Matching submitted files to students and lessons.

If it is not clear which file a student wants graded, nothing is guessed that could cost points: the
submission gets a fault and waits for a person.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tutor.grading.lesson_names import LessonMatch, match_lesson, person_name
from tutor.grading.owners import OwnedFile, assign_owners
from tutor.grading.student_names import normalize_name
from tutor.grading.submission_files import Identity, SubmissionFiles, Unreadable
from tutor.grading.submission_table import hard_link_fault
from tutor.suggestions import nearest

_ONLY_FILE = 5
"""The rank of a student's only file if only one lesson is graded."""


class Submission(Struct, frozen=True):
    """A student's submission to one lesson. `source` is its path inside the submissions; `fault`
    says why it cannot be graded."""

    name: str
    lesson: str
    source: str
    notes: tuple[str, ...] = ()
    submitted_at: str = ""
    fault: str = ""


class Matcher:
    """Finds the submissions among files. `problems` lists unmatched files, with what to do.

    **Arguments:** `lessons`: the ids to grade; `known`: all ids of the pack; `wrapper`: whether
    directories at the top may be something else than students'.
    """

    def __init__(
        self, files: SubmissionFiles, lessons: Sequence[str], known: Sequence[str], wrapper: bool
    ) -> None:
        self._files = files
        self._lessons = lessons
        self._only_lesson = lessons[0] if len(lessons) == 1 else None
        self._known = known
        self._wrapper = wrapper
        # Both: a file of each owner, by `owner_id`.
        self._owners: dict[str, dict[str, str]] = defaultdict(dict)
        self._hard_linked: dict[Identity, dict[str, str]] = defaultdict(dict)
        self.problems: list[str] = []

    def submissions(self) -> list[Submission]:
        """Return the submissions, in no particular order.

        Raises:
            Unusable: the files cannot be listed, or their layout is not clear.
        """
        by_owner: dict[str, list[OwnedFile]] = defaultdict(list)
        without_owner = []
        names = self._files.names()
        for file in assign_owners(self._files, names, self._lessons, self._known, self._wrapper):
            if file.owner:
                self._remember(file.owner, file.owner_id, file)
                by_owner[file.owner].append(file)
            else:
                without_owner.append(file)
        candidates: dict[tuple[str, str], list[tuple[LessonMatch, OwnedFile]]] = defaultdict(list)
        for owner, owner_id, match, file in self._match_names(without_owner):
            if owner:
                self._remember(owner, owner_id, file)
                candidates[owner, match.lesson].append((match, file))
            else:
                self.problems.append(f"{file.name}: a name without visible characters; rename it")
        faulty = []
        for owner, files in by_owner.items():
            matches, fault = self._match_files(owner, files)
            faulty += [fault] if fault is not None else []
            for match, file in matches:
                candidates[owner, match.lesson].append((match, file))
        found = [self._choose(*key, matches) for key, matches in candidates.items()]
        found += [one for one in faulty if (one.name, one.lesson) not in candidates]
        return [replace(one, fault=self._owner_fault(one.name) or one.fault) for one in found]

    def _remember(self, owner: str, owner_id: str, file: OwnedFile) -> None:
        self._owners[owner].setdefault(owner_id, file.name)
        if (identity := self._files.hard_linked.get(file.name)) is not None:
            self._hard_linked[identity].setdefault(owner_id, file.name)

    def _owner_fault(self, name: str) -> str:
        """Return the fault of a name that several students have."""
        files = self._owners[name].values()
        if len(files) <= 1:
            return ""
        return (
            f"could belong to {len(files)} students whose names look the same: "
            f"{', '.join([*files][:5])}; rename one, or merge their directories"
        )

    def _link_fault(self, name: str) -> str:
        """Return the fault of a file that is also another student's."""
        identity = self._files.hard_linked.get(name)
        files = self._hard_linked[identity] if identity is not None else {}
        return hard_link_fault(name, [*files.values()]) if len(files) > 1 else ""

    def _match_names(
        self, files: Sequence[OwnedFile]
    ) -> Iterator[tuple[str, str, LessonMatch, OwnedFile]]:
        """Yield files outside students' directories with the owner, and its exact spelling, that
        the file's name gives. If any are named after lessons, the root is one student's
        directory."""
        root = self._files.name
        root_is_student = False
        unclear = []
        for file in files:
            match = match_lesson(file.stem, (), self._known) if file.is_source else None
            if match is not None and match.rank < 2:
                root_is_student = True
                if match.lesson in self._lessons:
                    yield normalize_name(root), root, match, file
            elif match is not None and match.rank == 2 and (person := person_name(match.rest)):
                if match.lesson in self._lessons:
                    yield person, match.rest, match, file
            elif file.is_source and self._only_lesson is not None:
                match = LessonMatch(self._only_lesson, 0)
                yield normalize_name(file.stem), file.stem, match, file
            else:
                unclear.append((file, match))
        for file, match in unclear:
            if root_is_student and match is not None and match.lesson in self._lessons:
                yield normalize_name(root), root, match, file
            else:
                self.problems.append(self._unmatched(file))

    def _match_files(
        self, owner: str, files: Sequence[OwnedFile]
    ) -> tuple[list[tuple[LessonMatch, OwnedFile]], Submission | None]:
        """Return the lessons of a student's files; or, if only one lesson is graded and no file is
        clearly for it, a submission with a fault."""
        matches, unclear = [], []
        sources = [file for file in files if file.is_source]
        for file in sources:
            match = match_lesson(file.stem, file.inside[:-1], self._known)
            if match is not None:
                matches.append((match, file))
            else:
                unclear.append(file)
        only = self._only_lesson
        if only is not None and not matches and len(sources) == 1:
            return [(LessonMatch(only, _ONLY_FILE), sources[0])], None
        names = ", ".join(file.name for file in (sources or files)[:5])
        if only is not None and not matches:
            if sources:
                fault = f"which file is it? There are: {names}; rename it to {only}.py"
            else:
                fault = f"no Python file or notebook: {names}; ask for one"
            return [], Submission(owner, only, (sources or files)[0].name, fault=fault)
        self.problems += map(self._unmatched, unclear)
        if not sources:
            self.problems.append(f"{owner}: no Python file or notebook: {names}")
        return [(match, file) for match, file in matches if match.lesson in self._lessons], None

    def _unmatched(self, file: OwnedFile) -> str:
        if not file.is_source:
            return f"{file.name}: not a Python file or notebook; ask for one"
        near = nearest(file.stem, self._lessons)
        near = near or f"; available: {', '.join(self._lessons[:12])}"
        return f"{file.name}: no lesson has this name{near}; rename it and run with --resume"

    def _choose(
        self, owner: str, lesson: str, matches: Sequence[tuple[LessonMatch, OwnedFile]]
    ) -> Submission:
        """Return the file that counts, or a fault if that is not clear."""
        # `double.py` and `double (1).py` are equally likely to be meant.
        best = min(max(match.rank, 1) for match, _ in matches)
        chosen = [(match, file) for match, file in matches if max(match.rank, 1) == best]
        match, file = chosen[0]
        names = [file.name for _, file in chosen]
        notes = [_renamed(match, file)] if match.rank not in (0, 3) and file.owner else []
        fault = ""
        if len(chosen) > 1 and self._have_equal_contents(names):
            notes.append(f"handed in more than once, always the same: {', '.join(names)}")
        elif len(chosen) > 1:
            fault = f"handed in more than once: {', '.join(names)}; keep the one that counts"
        for name in names:
            fault = fault or self._link_fault(name)
        if ignored := [other.name for one, other in matches if max(one.rank, 1) != best]:
            notes.append(f"ignored: {', '.join(ignored)}")
        return Submission(owner, lesson, file.name, tuple(notes), file.submitted_at, fault)

    def _have_equal_contents(self, names: Sequence[str]) -> bool:
        try:
            return len({self._files.read(name) for name in names}) == 1
        except Unreadable:
            return False


def _renamed(match: LessonMatch, file: OwnedFile) -> str:
    why = "the only file" if match.rank == _ONLY_FILE else "the closest name"
    return f"{file.inside[-1]} was graded as {match.lesson}: {why}"
