"""Submissions graded per second on one core, on two, and so on.

    python -m benchmarks.cores 70

grades so many submissions to some lessons on each number of cores, each time with a new seed.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks import grading
from benchmarks.answers import CLASS
from tutor.pack import load_pack

REPEATS = 3


def main(number: int) -> None:
    os.environ["JAXTUTOR_HOME"] = str(Path(tempfile.mkdtemp(prefix="jaxtutor-home-")))
    pack = load_pack()
    answers = grading.mixed(pack, number, names=CLASS)
    cores = sorted(os.sched_getaffinity(0))
    rates: dict[int, list[float]] = {width: [] for width in range(1, len(cores) + 1)}
    for repeat in range(REPEATS):
        for width in rates:
            # Inherited by child processes.
            os.sched_setaffinity(0, cores[:width])
            batch = grading.ours(pack, answers, 1000 * repeat + width, width)
            assert not batch.misjudged, batch.misjudged
            rates[width].append(batch.per_second)
    for width, found in rates.items():
        median, low, high = statistics.median(found), min(found), max(found)
        ratio = median / statistics.median(rates[1])
        print(f"{width}: {median:.2f}/s ({low:.2f} to {high:.2f}), {ratio:.2f} x one core")


if __name__ == "__main__":
    main(int(sys.argv[1]))
