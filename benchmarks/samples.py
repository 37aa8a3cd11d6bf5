"""Samples of one thing measured, and what is told of them: a median, and how they spread."""

import statistics
from collections.abc import Iterable, Sequence

from msgspec import Struct

TAIL = 20
"""The spread is told from the first to the last twentieth: from the 5th to the 95th percentile."""


class Summary(Struct, frozen=True):
    """Of `n` samples, in their own unit: the median, and the 5th and 95th percentiles."""

    median: float
    p5: float
    p95: float
    n: int


def summary(samples: Iterable[float]) -> Summary:
    """Raises: ValueError: there are no samples."""
    values = sorted(samples)
    if not values:
        raise ValueError("nothing was measured")
    cuts = quantiles(values)
    return Summary(statistics.median(values), cuts[0], cuts[-1], len(values))


def quantiles(values: Sequence[float]) -> list[float]:
    """The 5th, 10th … 95th percentile; of one sample it is itself."""
    if len(values) == 1:
        return [values[0]] * (TAIL - 1)
    return statistics.quantiles(values, n=TAIL, method="inclusive")
