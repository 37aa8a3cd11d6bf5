"""What a batch comes to: `results.jsonl` and the formats asked for, in one pass, and a summary."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from tutor.files import replacing
from tutor.grading.batch import line_of
from tutor.grading.outputs import Sources, write
from tutor.grading.result import Batch, Override, Result

RESULTS = "results.jsonl"
LISTED = 50
"""So many for a person to look at are listed one by one; all are in `results.jsonl`."""


class Waiting(Struct, frozen=True):
    """One for a person to look at."""

    submission: str
    lesson: str
    verdict: str
    why: str


class Summary(Struct):
    """Counts. `waiting` are the first of those that a person has to look at: what broke, what could
    not be graded; nobody's score is 0 for that."""

    results: int = 0
    submissions: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    overridden: int = 0
    unsettled: int = 0
    not_graded: int = 0
    waiting: list[Waiting] = field(default_factory=list)


def write_all(
    batch: Batch,
    results: Iterable[Result],
    folder: Path,
    formats: Sequence[str],
    sources: Sources,
) -> Summary:
    """**Arguments:** see `tutor.grading.outputs.write`.

    Raises:
        OSError: something could not be written. Every file is whole, or as it was.
    """
    summary = Summary()
    with replacing(folder / RESULTS) as file:

        def told() -> Iterator[Result]:
            for result in _counted(results, summary):
                file.write(line_of(result))
                yield result

        write(batch, told(), folder, formats, sources)
    return summary


def _counted(results: Iterable[Result], summary: Summary) -> Iterator[Result]:
    verdicts: Counter[str] = Counter()
    last = None
    for result in results:
        summary.results += 1
        summary.submissions += result.submission != last
        last = result.submission
        verdicts[result.verdict] += 1
        if result.override is not None:
            summary.overridden += 1
        elif result.verdict in ("error", "internal", "ungraded"):
            summary.unsettled += 1
            summary.not_graded += result.verdict != "error"
            if len(summary.waiting) < LISTED:
                one = Waiting(result.submission, result.lesson, result.verdict, result.fault)
                summary.waiting.append(one)
        yield result
    summary.verdicts = dict(verdicts)


def mark_overridden(folder: Path, submission: str, lesson: str, override: Override) -> bool:
    """Have `results.jsonl` tell what a person has just said.

    **Returns:** whether it has such a line.

    Raises:
        OSError: it could not be written; it is as it was.
    """
    path = folder / RESULTS
    if not path.is_file():
        return False
    found = False
    with path.open("rb") as old, replacing(path) as new:
        for line in old:
            data: dict[str, Any] = msgspec.json.decode(line)
            if (data["submission"], data["lesson"]) != (submission, lesson):
                new.write(line)
                continue
            found = True
            before = data.get("score_before", data["score"])
            given = msgspec.to_builtins(override)
            data |= {"override": given, "score": override.score, "score_before": before}
            new.write(msgspec.json.encode(data) + b"\n")
    return found
