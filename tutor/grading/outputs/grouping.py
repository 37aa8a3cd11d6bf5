"""The results of one submission together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tutor.grading.result import Result


@contextmanager
def by_submission(take: Callable[[Sequence[Result]], None]) -> Iterator[Callable[[Result], None]]:
    """Gives a function for one result after the other; `take` gets those of each submission, once
    they are complete."""
    held: list[Result] = []

    def add(result: Result) -> None:
        if held and held[0].submission != result.submission:
            take(tuple(held))
            held.clear()
        held.append(result)

    yield add
    if held:
        take(tuple(held))


def total(results: Sequence[Result]) -> float | None:
    """The sum of the scores that count; None while a person has to look at one of them."""
    scores = [result.final for result in results]
    known = [score for score in scores if score is not None]
    return sum(known) if len(known) == len(scores) else None


def unsettled(result: Result) -> bool:
    """Whether a person has to look, and none has: something broke, or could not be graded."""
    return result.override is None and result.verdict in ("error", "internal", "ungraded")


def number(value: float) -> str:
    """As short as it goes without loss: `3`, `2.5`."""
    return repr(value).removesuffix(".0")


def reasons(result: Result) -> list[str]:
    """Why a result is what it is, for those who grade: one sentence each."""
    found = list(result.notes)
    if unsettled(result):
        found.insert(0, f"look at it: {result.fault or 'it could not be graded'}")
    if result.late is not None and result.late.reason not in found:
        found.append(result.late.reason)
    if (made := result.override) is not None:
        was = "none" if result.score is None else number(result.score)
        found.append(f"set to {number(made.score)} by {made.by} (it was {was}): {made.reason}")
    return found
