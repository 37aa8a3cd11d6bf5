"""Where a learner goes on, and how far they have come in a track."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from tutor.learner.placement import placed
from tutor.learner.progress import LessonStatus, Progress
from tutor.manifest import Pack, Track

DONE: tuple[LessonStatus, ...] = ("passed", "known")
"""The statuses of lessons that need not be done."""


class GoingOn(NamedTuple):
    """A lesson, and how it is reached: none was opened before, this one was, or it follows."""

    lesson: str
    how: Literal["begin", "go on", "next"]


def going_on(
    lessons: Sequence[str], statuses: Mapping[str, LessonStatus], last: str | None
) -> GoingOn | None:
    """Return where to go on: in the lesson opened last, or in the next one once that is done; None
    if every lesson is. After the last lesson of the course come those that were skipped.

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


def current_lesson(pack: Pack, progress: Progress) -> str:
    """Return the lesson opened last, else the first that is not passed, else the first."""
    last = progress.last_lesson(pack.id)
    return last if last is not None and last in pack.lessons else first_to_do(pack, progress)


def first_to_do(pack: Pack, progress: Progress) -> str:
    """Return the first lesson that is neither passed nor known; the first if there is none."""
    statuses = placed(pack.manifest, progress.statuses(pack.id))
    order = list(pack.lessons)
    return next((n for n in order if statuses.get(n) not in DONE), order[0])


class TrackProgress(NamedTuple):
    """The number of lessons that are done and of all, and the minutes that the others take; None
    if that is not known yet."""

    done: int
    lessons: int
    minutes: int | None


def track_progress(
    track: Track, statuses: Mapping[str, LessonStatus], minutes: Callable[[str], int | None]
) -> TrackProgress:
    """Return the progress in a track.

    **Arguments:** `statuses`: with placement, so that lessons known by a review count as done;
    `minutes` returns those of a lesson, or None if its file has not been read yet.
    """
    left = [name for name in track.lessons if statuses.get(name, "new") not in DONE]
    needed = [minutes(name) for name in left]
    known = [one for one in needed if one is not None]
    return TrackProgress(
        len(track.lessons) - len(left),
        len(track.lessons),
        sum(known) if len(known) == len(needed) else None,
    )
