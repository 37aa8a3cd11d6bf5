"""Every hostile submission fails, in time, with a message that says what happened."""

import pytest

from tests.attacks.hostile import SUBMISSIONS, aimed_at
from tests.stopwatch import Stopwatch
from tutor.engine.session import run
from tutor.lesson import Lesson
from tutor.report import Report

PATIENCE = 20.0
"""Seconds for starting sandboxes, on top of the lesson's own limit."""


def told(report: Report) -> str:
    """Return everything the learner is shown of what went wrong."""
    faults = [report.fault, *(check.fault for check in report.checks)]
    words = [f"{fault.message}\n{fault.detail}" for fault in faults if fault]
    return "\n".join([*words, *(check.message for check in report.checks)])


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_hostile_submission_fails_with_its_message(
    name: str, lesson: Lesson, targets: dict[str, str]
):
    attack = SUBMISSIONS[name]
    watch = Stopwatch()
    report = run(lesson, aimed_at(targets, attack.code))
    assert watch.seconds < lesson.limits.seconds + PATIENCE
    assert report.verdict in ("fail", "error"), report.verdict
    for words in attack.says:
        assert any(either in told(report) for either in words.split(" | ")), told(report)
