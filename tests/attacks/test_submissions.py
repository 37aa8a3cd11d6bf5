"""Every file in `submissions` holds an attack and, in its first lines, what must come of it:

# L4: sys.exit(0) when called          the row of the list it belongs to, and what it tries
# says: your code ended the process    words the learner must be told
"""

import re
from pathlib import Path

import pytest

from tests.stopwatch import Stopwatch
from tutor.engine.session import run
from tutor.lesson import Lesson
from tutor.report import Report

FOLDER = Path(__file__).parent / "submissions"
SUBMISSIONS = sorted(FOLDER.glob("*.py"))
PATIENCE = 20.0
"""Seconds for starting sandboxes, beside the lesson's own limit."""


def told(report: Report) -> str:
    """Everything the learner is told."""
    faults = [report.fault, *(check.fault for check in report.checks)]
    words = [f"{fault.message}\n{fault.detail}" for fault in faults if fault]
    return "\n".join([*words, *(check.message for check in report.checks)])


@pytest.mark.parametrize("path", SUBMISSIONS, ids=lambda path: path.stem)
def test_it_is_held_and_named(path: Path, lesson: Lesson, targets: dict[str, str]):
    code = path.read_text(encoding="utf-8")
    says = re.findall(r"^# says: (.*)$", code, re.MULTILINE)
    assert says, f"{path.name} does not say what must come of it"
    for name, value in targets.items():
        code = code.replace(f"@{name}@", value)
    watch = Stopwatch()
    report = run(lesson, code)
    assert watch.seconds < lesson.limits.seconds + PATIENCE
    assert report.verdict in ("fail", "error"), report.verdict
    for words in says:
        assert any(either in told(report) for either in words.split(" | ")), told(report)
