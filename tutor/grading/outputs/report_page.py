"""`report.html`: the whole batch for the instructor, in one file.

The rows of students go to a temporary file as they come, for what stands above them is known only
at the end.
"""

import tempfile
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO

from markupsafe import Markup
from msgspec import Struct

from tutor.files import replacing
from tutor.grading.outputs.grouping import by_submission, reasons, total, unsettled
from tutor.grading.outputs.pages import MARKS, bars, template
from tutor.grading.outputs.sources import Sources
from tutor.grading.result import Batch, Result
from tutor.render import duration

_SECONDS = (0.5, 1, 2, 5, 10, 20, 60)
_MESSAGE = 600
"""Characters of a message that are shown; all of it is in `results.jsonl`."""


class CheckCount(Struct):
    """What became of one check of a lesson."""

    name: str
    lesson: str
    statuses: Counter[str]
    seconds: float = 0.0
    longest: float = 0.0

    @property
    def ran(self) -> int:
        return self.statuses.total()

    @property
    def missed(self) -> float:
        """The share of submissions that did not pass it."""
        return 1 - self.statuses["pass"] / self.ran


class Counts:
    """What of a batch fits into a few tables, however large it is."""

    def __init__(self) -> None:
        self.submissions = 0
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.scores: Counter[int] = Counter()
        self.unscored = 0
        self.times: Counter[int] = Counter()
        self.overrides = 0
        self.waiting = 0
        self.checks: dict[tuple[str, str], CheckCount] = {}

    def add(self, results: Sequence[Result]) -> None:
        self.submissions += 1
        scored = total(results)
        whole = sum(result.max_score for result in results)
        if scored is None or whole <= 0:
            self.unscored += 1
        else:
            self.scores[min(max(int(10 * scored / whole), 0), 10)] += 1
        for result in results:
            self.verdicts[result.lesson, result.verdict] += 1
            self.times[bisect(_SECONDS, result.seconds)] += 1
            self.overrides += result.override is not None
            self.waiting += unsettled(result)
            for check in result.checks:
                key = (result.lesson, check.name)
                found = self.checks.setdefault(
                    key, CheckCount(check.name, result.lesson, Counter())
                )
                found.statuses[check.status] += 1
                found.seconds += check.seconds
                found.longest = max(found.longest, check.seconds)


@contextmanager
def report(batch: Batch, folder: Path, sources: Sources) -> Iterator[Callable[[Result], None]]:
    """See `tutor.grading.outputs`."""
    counts = Counts()
    row = template("report-student.html")
    look = template("report-look.html")
    with (
        replacing(folder / "report.html") as file,
        tempfile.TemporaryFile("w+", encoding="utf-8") as rows,
        tempfile.TemporaryFile("w+", encoding="utf-8") as waiting,
    ):

        def take(results: Sequence[Result]) -> None:
            counts.add(results)
            rows.write(row.render(results=results, reasons=reasons, longest=_MESSAGE))
            for result in results:
                if unsettled(result):
                    waiting.write(look.render(result=result))

        with by_submission(take) as add:
            yield add
        checks = sorted(counts.checks.values(), key=lambda check: -check.missed)
        page = template("report.html").generate(
            batch=batch,
            counts=counts,
            verdicts=list(MARKS),
            checks=checks,
            scores=bars(_score_counts(counts)),
            times=bars(_time_counts(counts)),
            duration=duration,
            rows=_parts(rows),
            waiting=_parts(waiting),
        )
        for part in page:
            file.write(part.encode())


def _score_counts(counts: Counts) -> list[tuple[str, int]]:
    ranges = [(f"{10 * place}–{10 * place + 10} %", counts.scores[place]) for place in range(10)]
    # Whoever has everything is told apart from those who nearly have.
    ranges.append(("100 % or more", counts.scores[10]))
    return [*ranges[::-1], ("no score yet", counts.unscored)]


def _time_counts(counts: Counts) -> list[tuple[str, int]]:
    names = [f"{low:g}–{high:g} s" for low, high in pairwise((0, *_SECONDS))]
    names.append(f"{_SECONDS[-1]:g} s or more")
    return [(name, counts.times[place]) for place, name in enumerate(names)]


def _parts(file: IO[str]) -> Iterator[Markup]:
    """What templates have written, to put into another."""
    file.seek(0)
    while part := file.read(1 << 16):
        yield Markup(part)  # noqa: S704 - escaped when it was rendered
