"""Times as bars, a line each, on a logarithmic scale: compiling takes a thousand times as long."""

from collections.abc import Sequence
from math import log

MARK = "▏"
MAX_MARKS = 16
FACTORS = (2, 4, 10, 100, 1000)
"""By how much a mark may multiply."""


def bars(times: Sequence[tuple[str, float, str]]) -> list[str]:
    """Return a line for each time, and last what a mark means.

    **Arguments:** `times`: of each its name, its seconds, and these in words.
    """
    shortest = min((seconds for _, seconds, _ in times if seconds > 0), default=1.0)
    longest = max((seconds for _, seconds, _ in times), default=1.0)
    fits = (one for one in FACTORS if _marks(longest, shortest, one) <= MAX_MARKS)
    factor = next(fits, FACTORS[-1])
    names = max(len(name) for name, _, _ in times)
    words = max(len(text) for _, _, text in times)
    lines = []
    for name, seconds, text in times:
        marks = min(_marks(seconds, shortest, factor), MAX_MARKS)
        lines.append(f"{name:<{names}}  {text:>{words}} {MARK * marks}".rstrip())
    return [*lines, f"one more {MARK}: {factor} times as long"]


def _marks(seconds: float, shortest: float, factor: int) -> int:
    if seconds <= 0:
        return 0
    return 1 + round((log(seconds) - log(shortest)) / log(factor))  # a quotient could be infinite
