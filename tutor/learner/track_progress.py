"""How far a learner has come in a track, and how long the rest of it takes."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tutor.learner.going_on import DONE
from tutor.learner.progress import LessonStatus
from tutor.manifest import Track


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
