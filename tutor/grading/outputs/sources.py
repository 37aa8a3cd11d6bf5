"""Where formats that show code get it from: it is not part of the results."""

from typing import Protocol

from tutor.grading.handed_in import Unreadable
from tutor.grading.result import Result
from tutor.grading.submissions import Submissions, source_text
from tutor.manifest import Pack


class Sources(Protocol):
    """The submissions, read again, and what they started from."""

    def code(self, result: Result) -> str | None:
        """What was handed in; None if it cannot be read as text any more."""

    def starter(self, lesson: str) -> str:
        """What the lesson's submissions have in common because they were given it."""


class SubmittedSources:
    """Those of a batch, read from where they were handed in.

    **Arguments:** `submissions`: open while this is used.
    """

    def __init__(self, pack: Pack, submissions: Submissions) -> None:
        self._pack = pack
        self._submissions = submissions

    def code(self, result: Result) -> str | None:
        """See `Sources`."""
        try:
            return source_text(self._submissions.read(result.source), result.source)
        except Unreadable:
            return None

    def starter(self, lesson: str) -> str:
        """See `Sources`."""
        return self._pack.lesson(lesson).starter
