"""The results of one submission together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from tutor.grading.result import Result
from tutor.report import looks_text

AddResult: TypeAlias = Callable[[Result], None]


@contextmanager
def by_submission(write: Callable[[Sequence[Result]], None]) -> Iterator[AddResult]:
    """Yield a function that takes one result at a time; `write` gets the results of each submission
    once they are complete."""
    pending: list[Result] = []

    def add(result: Result) -> None:
        if pending and pending[0].submission != result.submission:
            write(tuple(pending))
            pending.clear()
        pending.append(result)

    yield add
    if pending:
        write(tuple(pending))


def total(results: Sequence[Result]) -> float | None:
    """Return the sum of the final scores; None while one is missing."""
    scores = [result.final for result in results]
    known = [score for score in scores if score is not None]
    return sum(known) if len(known) == len(scores) else None


def review_reasons(result: Result) -> list[str]:
    """Return why a grader has to look at a result: its code broke or could not be graded, or it
    looks at the interpreter. Nothing if they have set the score."""
    if result.override is not None:
        return []
    broke = result.verdict in ("error", "internal", "ungraded")
    found = [result.fault or "could not be graded"] if broke else []
    return [*found, looks_text(result.looks)] if result.looks else found


def format_number(value: float) -> str:
    """Return the shortest exact form: `3`, `2.5`."""
    return repr(value).removesuffix(".0")


def reasons(result: Result) -> list[str]:
    """Return why a result is what it is, for graders, one sentence each."""
    found = [f"needs review: {reason}" for reason in review_reasons(result)] + [*result.notes]
    if result.late is not None and result.late.reason not in found:
        found.append(result.late.reason)
    if (override := result.override) is not None:
        graded = "none" if result.score is None else format_number(result.score)
        score = format_number(override.score)
        found.append(f"set to {score} by {override.by} (was {graded}): {override.reason}")
    return found
