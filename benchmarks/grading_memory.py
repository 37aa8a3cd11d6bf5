"""The memory and CPU time of the grader itself, without running submissions.

    python -m benchmarks.grading_memory 100 1000 10000

runs `jaxtutor grade` on so many submissions with every format, in a new process each time. Only the
first submission is run; the others get its reports, which takes minutes rather than hours.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cluster import answer_immediately
from benchmarks.submissions import MINI

CODE = "def double(x):\n    y = {number}\n    return 2 * x + 0 * y\n"


def hand_in(number: int, folder: Path) -> None:
    """Write one file per student."""
    for student in range(number):
        path = folder / f"student {student:06}" / "double.py"
        path.parent.mkdir(parents=True)
        path.write_text(CODE.format(number=student))


def grade(folder: Path, formats: str) -> None:
    """Grade in this process; print its peak MiB and CPU seconds."""
    from tutor.cli import main as jaxtutor

    answer_immediately()
    status = jaxtutor(
        ["grade", str(folder / "hw"), "--lesson", "double", "--pack", str(MINI),
         "--out", str(folder / "out"), "--format", formats, "--quiet"]
    )  # fmt: skip
    assert status == 0, status
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


def main(numbers: Sequence[int], formats: str = "gradebook.csv,junit.xml,report.html,students,"
         "gradescope") -> None:  # fmt: skip
    for number in numbers:
        with tempfile.TemporaryDirectory() as name:
            hand_in(number, Path(name, "hw"))
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.grading_memory", "--in", name, formats],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                sys.exit(done.stderr)
            memory, seconds = map(float, done.stdout.split())
            each = 1000 * seconds / number
            print(f"{number}: {memory:.0f} MiB at most; {each:.2f} ms of CPU time per submission")


if __name__ == "__main__":
    if sys.argv[1] == "--in":
        grade(Path(sys.argv[2]), sys.argv[3])
    else:
        main([int(number) for number in sys.argv[1:]])
