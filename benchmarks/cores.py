"""How many submissions a second are graded on one core, on two, and so on.

    python -m benchmarks.cores 70

grades as many of the course, each time as a new batch whose hidden seed nobody has seen, on so many
cores and no more.
"""

import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks import grading
from tutor.pack import load_pack

ROUNDS = 3


def main(number: int) -> None:
    os.environ["JAXTUTOR_HOME"] = str(Path(tempfile.mkdtemp(prefix="jaxtutor-home-")))
    pack = load_pack()
    answers = grading.mixed(pack, number)
    cores = sorted(os.sched_getaffinity(0))
    rates: dict[int, list[float]] = {width: [] for width in range(1, len(cores) + 1)}
    for round_ in range(ROUNDS):
        for width in rates:
            # What is started from now on has no more, either.
            os.sched_setaffinity(0, cores[:width])
            batch = grading.ours(pack, answers, 1000 * round_ + width, width)
            assert not batch.misjudged, batch.misjudged
            rates[width].append(batch.per_second)
    for width, found in rates.items():
        median, low, high = statistics.median(found), min(found), max(found)
        ratio = median / statistics.median(rates[1])
        print(f"{width}: {median:.2f}/s ({low:.2f} to {high:.2f}), {ratio:.2f} x one core")


if __name__ == "__main__":
    main(int(sys.argv[1]))
