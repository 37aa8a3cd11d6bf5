"""How soon a mistake is shown: from a save to the first failure, and to the verdict.

    python -m benchmarks.failures [--every N] [LESSON …]

Lessons' known mistakes are run as in the app, once all sandboxes are ready.
"""

import argparse
import queue
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from benchmarks import warm
from benchmarks.answers import Answer, mistakes
from tutor.engine.background import CheckFinished, RunEvent, RunFinished, RunStopped
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.ui.desk import Desk


class Failure(Struct, frozen=True):
    """Seconds until the first failure of a mistake is known, and until the verdict."""

    lesson: str
    name: str
    first: float
    verdict: float


def measure(pack: Pack, lessons: Sequence[str], every: int) -> Iterator[Failure]:
    """Yield the times of one in `every` mistakes of these lessons."""
    with warm.desk(pack) as desk:
        chosen = [answer for name in lessons for answer in mistakes(pack, pack.lesson(name))]
        for answer in chosen[::every]:
            if (failure := _measured(desk, answer)) is not None:
                yield failure


def _measured(desk: Desk, answer: Answer) -> Failure | None:
    """Return a mistake's times; None if its import failed, so that no check was tried."""
    warm.wait(desk, answer.lesson)
    events: queue.SimpleQueue[tuple[float, RunEvent]] = queue.SimpleQueue()
    began = time.perf_counter()
    number = desk.runner.run(
        answer.lesson, answer.code, lambda event: events.put((time.perf_counter(), event))
    )
    first = None
    while True:
        at, event = events.get(timeout=warm.PATIENCE)
        if isinstance(event, CheckFinished) and event.result.status in ("fail", "error"):
            first = first or at - began
        elif isinstance(event, RunFinished | RunStopped):
            desk.runner.stop(number)
            lesson = answer.lesson.id
            return Failure(lesson, answer.name, first, at - began) if first is not None else None


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.failures")
    parser.add_argument("lessons", nargs="*", metavar="LESSON")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one in N mistakes")
    options = parser.parse_args()
    pack = open_pack()
    failures = []
    for one in measure(pack, options.lessons or [*pack.lessons], options.every):
        failures.append(one)
        times = f"{one.first * 1e3:.0f} ms, {one.verdict * 1e3:.0f} ms"
        print(f"{one.lesson}/{one.name}: {times}", flush=True)
    firsts, verdicts = [one.first for one in failures], [one.verdict for one in failures]
    first, verdict = statistics.median(firsts) * 1e3, statistics.median(verdicts) * 1e3
    print(f"median of {len(failures)}: {first:.0f} ms to the first failure, {verdict:.0f} ms")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
