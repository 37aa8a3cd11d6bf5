"""Summaries of samples: the median, and the 5th and 95th percentiles."""

import statistics
from collections.abc import Iterable, Sequence

from msgspec import Struct

QUANTILES = 20
"""Quantiles are multiples of 1/20, from the 5th to the 95th percentile."""


class Summary(Struct, frozen=True):
    """The median, and the 5th and 95th percentiles, of `n` samples."""

    median: float
    p5: float
    p95: float
    n: int


def summary(samples: Iterable[float]) -> Summary:
    """Return a summary.

    Raises:
        ValueError: there are no samples.
    """
    values = sorted(samples)
    if not values:
        raise ValueError("no samples")
    cuts = quantiles(values)
    return Summary(statistics.median(values), cuts[0], cuts[-1], len(values))


def quantiles(values: Sequence[float]) -> list[float]:
    """Return the 5th, 10th … 95th percentiles; those of one sample are the sample."""
    if len(values) == 1:
        return [values[0]] * (QUANTILES - 1)
    return statistics.quantiles(values, n=QUANTILES, method="inclusive")
