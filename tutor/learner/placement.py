"""Placement: a learner who passes the review of a track need not do its other lessons."""

from collections.abc import Mapping

from tutor.learner.progress import LessonStatus
from tutor.manifest import Manifest

HOW = "A review covers its track: pass it, and the other lessons count as known."
"""Said of a review."""

WHY = "counts as known: you passed the review of the track"
"""Said of a known lesson."""


def placed(manifest: Manifest, statuses: Mapping[str, LessonStatus]) -> dict[str, LessonStatus]:
    """Return the statuses by lesson id, with `known` for lessons that are not passed, but whose
    track's review is.

    **Arguments:** `statuses`: as stored; missing lessons are new.
    """
    found = dict(statuses)
    for track in manifest.tracks:
        if track.review is not None and statuses.get(track.review) == "passed":
            found |= {name: "known" for name in track.lessons if statuses.get(name) != "passed"}
    return found


def reviews(manifest: Manifest) -> set[str]:
    """Return the ids of the lessons that are reviews."""
    return {track.review for track in manifest.tracks if track.review is not None}


def listed_title(title: str, is_review: bool) -> str:
    """Return a lesson's title in a list, which says whether it is a review."""
    return f"{title} (review)" if is_review and "review" not in title.lower() else title
