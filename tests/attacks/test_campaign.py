"""A short day of grading, in a process of its own. `make attacks` makes it a long one."""

import subprocess
import sys

from tests.stopwatch import GUARD


def test_hostile_and_honest_submissions_by_turns():
    command = [sys.executable, "-m", "tests.attacks.campaign", "25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GUARD, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all held, all judged right, nothing left" in done.stdout
