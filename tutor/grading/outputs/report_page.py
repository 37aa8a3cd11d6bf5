"""`report.html`: the whole batch for the instructor, in one file.

The rows of submissions go to temporary files first, because the counts above them are known only at
the end.
"""

import tempfile
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO

from markupsafe import Markup
from msgspec import Struct

from tutor.grading.outputs.code_reader import CodeReader
from tutor.grading.outputs.grouping import AddResult, by_submission, reasons, review_reasons, total
from tutor.grading.outputs.pages import MARKS, bars, load_template
from tutor.grading.result import Batch, Result
from tutor.render import duration
from tutor.storage.files import replacing

_SECONDS = (0.5, 1, 2, 5, 10, 20, 60)
_MAX_MESSAGE = 600
"""Characters of a message that are shown; `results.jsonl` has all of it."""


class CheckCount(Struct):
    """The statuses and times of one check of a lesson."""

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
        """The share of submissions that did not pass the check."""
        return 1 - self.statuses["pass"] / self.ran


class Counts:
    """Counts over a batch; their size does not depend on the number of submissions."""

    def __init__(self) -> None:
        self.submissions = 0
        self.verdicts: Counter[tuple[str, str]] = Counter()
        self.scores: Counter[int] = Counter()
        self.unscored = 0
        self.times: Counter[int] = Counter()
        self.overrides = 0
        self.unreviewed = 0
        self.checks: dict[tuple[str, str], CheckCount] = {}

    def add(self, results: Sequence[Result]) -> None:
        self.submissions += 1
        score = total(results)
        max_score = sum(result.max_score for result in results)
        if score is None or max_score <= 0:
            self.unscored += 1
        else:
            self.scores[min(max(int(10 * score / max_score), 0), 10)] += 1
        for result in results:
            self.verdicts[result.lesson, result.verdict] += 1
            self.times[bisect(_SECONDS, result.seconds)] += 1
            self.overrides += result.override is not None
            self.unreviewed += bool(review_reasons(result))
            for check in result.checks:
                key = (result.lesson, check.name)
                count = self.checks.setdefault(
                    key, CheckCount(check.name, result.lesson, Counter())
                )
                count.statuses[check.status] += 1
                count.seconds += check.seconds
                count.longest = max(count.longest, check.seconds)


@contextmanager
def write_report(batch: Batch, folder: Path, reader: CodeReader) -> Iterator[AddResult]:
    """See `tutor.grading.outputs`."""
    counts = Counts()
    submission_rows = load_template("report-submission.html")
    review_row = load_template("report-review.html")
    with (
        replacing(folder / "report.html") as file,
        tempfile.TemporaryFile("w+", encoding="utf-8") as rows,
        tempfile.TemporaryFile("w+", encoding="utf-8") as reviews,
    ):

        def write(results: Sequence[Result]) -> None:
            counts.add(results)
            rows.write(
                submission_rows.render(results=results, reasons=reasons, max_length=_MAX_MESSAGE)
            )
            for result in results:
                if why := review_reasons(result):
                    reviews.write(review_row.render(result=result, why="; ".join(why)))

        with by_submission(write) as add:
            yield add
        checks = sorted(counts.checks.values(), key=lambda check: -check.missed)
        page = load_template("report.html").generate(
            batch=batch,
            counts=counts,
            verdicts=list(MARKS),
            checks=checks,
            scores=bars(_score_counts(counts)),
            times=bars(_time_counts(counts)),
            duration=duration,
            rows=_parts(rows),
            reviews=_parts(reviews),
        )
        for part in page:
            file.write(part.encode())


def _score_counts(counts: Counts) -> list[tuple[str, int]]:
    ranges = [(f"{10 * tenth}–{10 * tenth + 10} %", counts.scores[tenth]) for tenth in range(10)]
    # Full marks get a separate bar.
    ranges.append(("100 % or more", counts.scores[10]))
    return [*ranges[::-1], ("no score yet", counts.unscored)]


def _time_counts(counts: Counts) -> list[tuple[str, int]]:
    names = [f"{low:g}–{high:g} s" for low, high in pairwise((0, *_SECONDS))]
    names.append(f"{_SECONDS[-1]:g} s or more")
    return [(name, counts.times[index]) for index, name in enumerate(names)]


def _parts(file: IO[str]) -> Iterator[Markup]:
    """Yield the rendered text in a file, for use in another template."""
    file.seek(0)
    while part := file.read(1 << 16):
        yield Markup(part)  # noqa: S704 - escaped when rendered
