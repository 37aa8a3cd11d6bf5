"""A short campaign in its own process. `make attacks` runs a long one."""

import subprocess
import sys

from tests.stopwatch import GUARD


def test_alternating_hostile_and_honest_submissions():
    command = [sys.executable, "-m", "tests.attacks.campaign", "25"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GUARD, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all held, all judged right, nothing left" in done.stdout
