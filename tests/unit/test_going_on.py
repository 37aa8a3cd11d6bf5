"""Where a learner goes on, and how far a track has come."""

from tests.cases import for_each
from tutor.learner.going_on import GoingOn, TrackProgress, going_on, track_progress
from tutor.learner.progress import LessonStatus
from tutor.manifest import Track

LESSONS = ["a", "b", "c"]


@for_each(
    ("statuses", "last", "expected"),
    [
        ({}, None, GoingOn("a", "begin")),
        ({"a": "started"}, "a", GoingOn("a", "go on")),
        ({"a": "passed"}, "a", GoingOn("b", "next")),
        ({"a": "passed", "b": "passed"}, "a", GoingOn("c", "next")),
        ({"a": "known", "b": "known"}, "b", GoingOn("c", "next")),
        ({"a": "started", "c": "passed"}, "c", GoingOn("a", "next")),
        ({"a": "started"}, "removed", GoingOn("a", "begin")),
        ({"a": "passed", "b": "passed", "c": "known"}, "b", None),
    ],
)
def test_a_learner_goes_on_in_the_last_lesson_or_in_the_next_one_to_do(
    statuses: dict[str, LessonStatus], last: str | None, expected: GoingOn | None
):
    assert going_on(LESSONS, statuses, last) == expected


TRACK = Track(id="t", title="T", lessons=("a", "b", "c"))


def test_the_minutes_of_a_track_are_those_of_the_lessons_to_do():
    minutes = {"a": 5, "b": 7, "c": 11}
    statuses: dict[str, LessonStatus] = {"a": "passed", "b": "started"}
    assert track_progress(TRACK, statuses, minutes.get) == TrackProgress(1, 3, 18)
    statuses = dict.fromkeys(LESSONS, "known")
    assert track_progress(TRACK, statuses, minutes.get) == TrackProgress(3, 3, 0)


def test_minutes_are_unknown_until_each_lesson_to_do_was_read():
    assert track_progress(TRACK, {}, {"a": 5}.get).minutes is None
    assert track_progress(TRACK, {"b": "passed", "c": "passed"}, {"a": 5}.get).minutes == 5
