"""Whose time counts: the learner's, and nobody else's."""

from pathlib import Path

from msgspec.structs import replace

from tutor.engine import Session
from tutor.forks import Forks
from tutor.lesson import Limits, Pack


def test_waiting_for_pytorch_takes_nothing_of_the_learners_time(
    mini: Pack, forks: Forks, tmp_path: Path
):
    lesson = mini.lesson("double")
    slow = replace(
        lesson, torch=f"import time\ntime.sleep(4.5)\n{lesson.torch}", limits=Limits(seconds=4)
    )
    code = "def double(x):\n    return 2 * x\n"
    with Session(slow, code, memory=tmp_path, sandboxes=forks) as session:
        report = session.check()
    assert report.passed, report
    assert report.timings.reference > 3
