"""Where a learner goes on: in the lesson opened last, or in the next one once that is passed."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from tutor.learner.progress import LessonStatus

DONE: tuple[LessonStatus, ...] = ("passed", "known")
"""The statuses of lessons that need not be done."""


class GoingOn(NamedTuple):
    """A lesson, and how it is reached: none was opened before, this one was, or it follows."""

    lesson: str
    how: Literal["begin", "go on", "next"]


def going_on(
    lessons: Sequence[str], statuses: Mapping[str, LessonStatus], last: str | None
) -> GoingOn | None:
    """Return where to go on; None if every lesson is done.

    After the last lesson of the course come those that were skipped.

    **Arguments:** `lessons`: in order; `statuses`: with placement, missing lessons are new; `last`:
    the lesson opened last.
    """
    start = 0
    if last is not None and last in lessons:
        if statuses.get(last, "new") not in DONE:
            return GoingOn(last, "go on")
        start = lessons.index(last) + 1
    for lesson in (*lessons[start:], *lessons[:start]):
        if statuses.get(lesson, "new") not in DONE:
            return GoingOn(lesson, "next" if start else "begin")
    return None
