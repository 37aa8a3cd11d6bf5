"""The submissions of a batch, read from a directory, a zip or a table.

A batch may be large, so only names are kept in memory; each file is read when it is graded.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from msgspec.structs import replace

from tutor.foreign.plain_text import one_line
from tutor.foreign.source_text import BadFile, decode_source
from tutor.grading.late import WILDCARD
from tutor.grading.matching import Matcher, Submission
from tutor.grading.notebook import BadNotebook, notebook_code
from tutor.grading.student_names import lookalikes
from tutor.grading.submission_directory import DirectoryFiles, read_below
from tutor.grading.submission_files import SubmissionFiles, Unreadable, Unusable
from tutor.grading.submission_table import read_table
from tutor.grading.submission_zip import ZipFiles


class SubmissionReader(Protocol):
    """The part of `Submissions` that grading needs."""

    @property
    def all(self) -> Sequence[Submission]:
        """Ordered by name, then by lesson."""

    def read(self, source: str) -> bytes:
        """Return the contents of a file.

        Raises:
            Unreadable: it cannot be read.
        """


class Submissions:
    """Use as a context manager. `all` is ordered by name, then by lesson; `problems` lists
    unmatched files and similar names, with what to do.

    **Arguments:** `path`: a directory, a zip, or a CSV with the columns `submission,lesson,path`;
    `lessons`: the ids to grade; `others`: the pack's other lessons; `wrapper`: whether directories
    at the top may be something else than students'.

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
        known = (*lessons, *(other for other in others if other not in lessons))
        self._files: SubmissionFiles | None = None
        self.problems: list[str] = []
        if path.is_dir():
            self._files = DirectoryFiles(path)
        elif not path.is_file():
            what = "not a file" if path.exists() else "no such file or directory"
            raise Unusable(f"{path}: {what}; give a directory, a zip or a CSV of submissions")
        elif path.suffix.casefold() == ".csv":
            entries, hard_linked = read_table(path, self._lessons, known)
            self._read: Callable[[str], bytes] = partial(read_below, path.parent, hard_linked)
            self.all = self._ordered(
                Submission(
                    entry.name, entry.lesson, entry.path, (), entry.submitted_at, entry.fault
                )
                for entry in entries
            )
            return
        elif path.suffix.casefold() == ".zip":
            self._files = ZipFiles(path)
        else:
            raise Unusable(
                f"{path}: expected a directory, a .zip or a .csv of submissions; to check one "
                f"file: jaxtutor check {self._lessons[0]} {path}"
            )
        self._read = self._files.read
        matcher = Matcher(self._files, self._lessons, known, wrapper)
        self._files.__enter__()
        try:
            matched = matcher.submissions()
        except BaseException:
            self.close()
            raise
        self.problems += [*matcher.problems, *self._files.problems]
        self.all = self._ordered(matched)

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
        """Close the zip, if there is one."""
        if self._files is not None:
            self._files.__exit__(None, None, None)

    def read(self, source: str) -> bytes:
        """See `SubmissionReader`."""
        return self._read(source)

    def _ordered(self, submissions: Iterable[Submission]) -> tuple[Submission, ...]:
        """Return the submissions in order, with notes and faults that are safe to show; report
        names that look the same."""
        positions = {lesson: position for position, lesson in enumerate(self._lessons)}
        ordered = sorted(submissions, key=lambda s: (*by_name(s.name), positions[s.lesson]))
        for names in lookalikes(one.name for one in ordered):
            self.problems.append(
                f"the names {', '.join(map(repr, names))} look the same, and each is graded "
                "separately; rename one, or merge their directories"
            )
        self.problems = [one_line(problem) for problem in self.problems]
        return tuple(
            replace(
                one,
                notes=tuple(map(one_line, one.notes)),
                fault=one_line(_wildcard_fault(one.name) or one.fault),
            )
            for one in ordered
        )


def _wildcard_fault(name: str) -> str:
    if name != WILDCARD:
        return ""
    return f"named {WILDCARD}, which means all submissions in a --late table; rename it"


def by_name(name: str) -> tuple[str, str]:
    """Return the key by which submissions are sorted."""
    return name.casefold(), name


def read_code(data: bytes, name: str) -> str:
    """Return the Python code in a submitted file.

    Raises:
        Unreadable: there is none; the message says why.
    """
    try:
        if name.casefold().endswith(".ipynb"):
            return notebook_code(data)
        if not data.strip():
            raise Unreadable(f"{name}: the file is empty")
        return decode_source(data, name)
    except BadNotebook as error:
        raise Unreadable(f"{name}: {one_line(str(error))}") from None
    except BadFile as error:
        raise Unreadable(one_line(str(error))) from None
