"""`results.jsonl`, written together with the requested formats in one pass, and a summary."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from tutor.foreign.plain_text import one_line
from tutor.grading.outputs import CodeReader, write
from tutor.grading.outputs.grouping import review_reasons
from tutor.grading.result import Batch, Override, Result
from tutor.storage.files import replacing

NAME = "results.jsonl"
MAX_LISTED = 50
"""Limit of results needing review in a summary; `results.jsonl` has all of them."""


class ReviewItem(Struct, frozen=True):
    """A result that a person has to review."""

    submission: str
    lesson: str
    verdict: str
    why: str


class Summary(Struct):
    """Counts. `waiting` lists the first results that need review: code that broke, a submission
    that could not be graded, which have no score rather than 0, or code that looks at the
    interpreter (`looking`)."""

    results: int = 0
    submissions: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    overridden: int = 0
    unsettled: int = 0
    not_graded: int = 0
    looking: int = 0
    waiting: list[ReviewItem] = field(default_factory=list)


def write_results(
    batch: Batch,
    results: Iterable[Result],
    folder: Path,
    formats: Sequence[str],
    reader: CodeReader,
) -> Summary:
    """Write `results.jsonl` and these formats. **Arguments:** see `tutor.grading.outputs.write`.

    Raises:
        OSError: a file could not be written. Every file is complete or unchanged.
    """
    summary = Summary()
    with replacing(folder / NAME) as file:

        def written() -> Iterator[Result]:
            for result in _counted(results, summary):
                file.write(results_line(result))
                yield result

        write(batch, written(), folder, formats, reader)
    return summary


def results_line(result: Result) -> bytes:
    """Return a line of `results.jsonl`, without timings: the same seed gives the same bytes.

    `score` is the one that counts; with an override, `score_before` is the graded one. The file
    name is made safe to show; the journal has the exact one.
    """
    data: dict[str, Any] = msgspec.to_builtins(result) | {"source": one_line(result.source)}
    del data["seconds"]
    for check in data["checks"]:
        del check["seconds"]
    if result.override is not None:
        data |= {"score": result.final, "score_before": result.score}
    return msgspec.json.encode(data) + b"\n"


def _counted(results: Iterable[Result], summary: Summary) -> Iterator[Result]:
    verdicts: Counter[str] = Counter()
    last = None
    for result in results:
        summary.results += 1
        summary.submissions += result.submission != last
        last = result.submission
        verdicts[result.verdict] += 1
        summary.overridden += result.override is not None
        if why := review_reasons(result):
            summary.unsettled += 1
            summary.not_graded += result.verdict in ("internal", "ungraded")
            summary.looking += bool(result.looks)
            if len(summary.waiting) < MAX_LISTED:
                about = (result.submission, result.lesson, result.verdict, "; ".join(why))
                item = ReviewItem(*about)
                summary.waiting.append(item)
        yield result
    summary.verdicts = dict(verdicts)


def record_override(folder: Path, submission: str, lesson: str, override: Override) -> bool:
    """Put an override into `results.jsonl`.

    **Returns:** whether the file has such a line.

    Raises:
        OSError: the file could not be written; it is unchanged.
    """
    path = folder / NAME
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
            data |= {
                "override": msgspec.to_builtins(override),
                "score": override.score,
                "score_before": before,
            }
            new.write(msgspec.json.encode(data) + b"\n")
    return found
