"""Submitted code for the formats that show it: the results do not contain it."""

from typing import Protocol

from tutor.grading.result import Result
from tutor.grading.submission_files import Unreadable
from tutor.grading.submissions import Submissions, read_code
from tutor.manifest import Pack


class CodeReader(Protocol):
    """Reads submissions and starters."""

    def code(self, result: Result) -> str | None:
        """Return the submitted code; None if it can no longer be read as text."""

    def starter(self, lesson: str) -> str:
        """Return the code that every submission to the lesson started from."""


class SubmissionCodeReader:
    """A `CodeReader` that reads the submitted files again.

    **Arguments:** `submissions`: must stay open while this is used.
    """

    def __init__(self, pack: Pack, submissions: Submissions) -> None:
        self._pack = pack
        self._submissions = submissions

    def code(self, result: Result) -> str | None:
        """See `CodeReader`."""
        try:
            return read_code(self._submissions.read(result.source), result.source)
        except Unreadable:
            return None

    def starter(self, lesson: str) -> str:
        """See `CodeReader`."""
        return self._pack.lesson(lesson).starter
