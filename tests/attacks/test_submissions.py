"""Every hostile submission fails, in time, with a message that says what happened."""

from pathlib import Path

import pytest

from tests.attacks.hostile import SUBMISSIONS, aimed_at
from tests.attacks.targets import aims
from tests.cases import all_cases
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


def assert_it_fails(name: str, lesson: Lesson, folder: Path, home: Path) -> None:
    """Run one submission, aimed at targets in a new directory."""
    attack = SUBMISSIONS[name]
    folder.mkdir()
    with aims(folder, home) as targets:
        watch = Stopwatch()
        report = run(lesson, aimed_at(targets, attack.code))
        assert watch.seconds < lesson.limits.seconds + PATIENCE
        assert report.verdict in ("fail", "error"), report.verdict
        for words in attack.says:
            assert any(either in told(report) for either in words.split(" | ")), told(report)


NAMES = list(SUBMISSIONS)
GROUPS = [NAMES[start : start + 10] for start in range(0, len(NAMES), 10)]
"""A test runs a few, so that workers share the work."""


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: f"{names[0]} and following")
def test_hostile_submissions_fail_with_their_messages(
    names: list[str], lesson: Lesson, tmp_path: Path, home: Path
):
    with all_cases() as case:
        for name in names:
            with case(name):
                assert_it_fails(name, lesson, tmp_path / name, home)
