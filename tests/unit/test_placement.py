"""A passed review marks the other lessons of its track as known."""

from tutor.learner.placement import listed_title, placed, reviews
from tutor.manifest import Manifest, Track

MANIFEST = Manifest(
    format=1,
    id="mine",
    title="Mine",
    tracks=(
        Track(id="one", title="One", lessons=("a", "b", "c", "all"), review="all"),
        Track(id="two", title="Two", lessons=("d", "more"), review="more"),
        Track(id="three", title="Three", lessons=("e",)),
    ),
)


def test_lessons_are_known_once_the_review_is_passed():
    stored = {"a": "passed", "b": "started", "all": "passed", "d": "started", "gone": "passed"}
    found = placed(MANIFEST, stored)  # type: ignore[arg-type]
    assert found == {**stored, "b": "known", "c": "known"}
    assert stored["b"] == "started"


def test_a_review_that_is_only_started_says_nothing():
    assert placed(MANIFEST, {"all": "started", "e": "passed"}) == {"all": "started", "e": "passed"}
    assert placed(MANIFEST, {}) == {}


def test_a_review_is_recognizable_in_lists():
    assert reviews(MANIFEST) == {"all", "more"}
    assert listed_title("Everything", True) == "Everything (review)"
    assert listed_title("Review: everything", True) == "Review: everything"
    assert listed_title("Everything", False) == "Everything"
