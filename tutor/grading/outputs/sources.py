"""Where formats that show code get it from: it is not part of the results."""

from typing import Protocol

from tutor.grading.result import Result


class Sources(Protocol):
    """The submissions, read again, and what they started from."""

    def code(self, result: Result) -> str | None:
        """What was handed in; None if it cannot be read as text any more."""

    def starter(self, lesson: str) -> str:
        """What the lesson's submissions have in common because they were given it."""
