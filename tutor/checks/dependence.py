"""Tests of whether two arrays of random numbers were drawn from the same key.

Two draws from one key start with the same bits, whatever their shapes and distributions, so their
first numbers correlate. The tests compare ranks, not values: whatever the distribution (a Cauchy
has no variance), the ranks of independent draws are a random permutation, and the chance that they
agree is known exactly:

- n numbers without ties are in the same order once in n! times, with ties accordingly more often;
- the rank correlation of many numbers without ties is normal with variance 1 / (n - 1);
- where most numbers are equal (Bernoulli masks), the number of positions at which both arrays are
  large is hypergeometric, and bounded by Hoeffding's inequality.

Where numbers cannot decide, the ledger of keys (`inside/ledger.py`) decides alone: with too few
numbers; where neighbours in one array are related (a random walk, sorted numbers); where arrays
from *different* keys agree as well (a common scale or mask).
"""

import math
from statistics import NormalDist

from tutor.arrays import Array, Floats, np

FALSE_POSITIVE = 1e-9
"""Probability that a `prng` check fails independent draws, over all the pairs it compares."""

STRUCTURE = 1e-4
"""Arrays from different keys share structure if chance makes them agree at most this often."""

MIN_CORRELATED = 64
"""Sample size from which the rank correlation is normal enough, far into its tails."""

TIED = 0.05
"""Share of one number above which large numbers are counted instead of ranks correlated."""

NEAR_ZERO = 3.0
"""Standard deviations below which a correlation is not tested."""


class Sample:
    """Numbers and the ranks of their beginnings, cached."""

    def __init__(self, numbers: Floats) -> None:
        self.numbers = numbers.ravel()
        self._ranks: dict[int, Floats] = {}

    def ranks(self, n: int) -> Floats:
        """Return the ranks of the first n numbers."""
        if n not in self._ranks:
            self._ranks[n] = _ranks(self.numbers[:n])
        return self._ranks[n]


def dependent(a: Sample, b: Sample, rate: float) -> float:
    """Return the rank correlation of the first numbers of two samples if independent draws reach it
    less often than `rate`, else 0."""
    n = min(a.numbers.size, b.numbers.size)
    if n < 2:
        return 0.0
    ranks, others = a.ranks(n), b.ranks(n)
    r = _correlation(ranks, others)
    if abs(r) * math.sqrt(n - 1) < NEAR_ZERO:
        return 0.0
    if abs(r) > 1 - 1e-12 and 2 * _chance_of_same_order(ranks) < rate:
        return r
    if n < MIN_CORRELATED:
        return 0.0
    if max(_largest_share(ranks), _largest_share(others)) > TIED:
        return r if _chance_of_coinciding(ranks, others) < rate else 0.0
    return r if abs(r) * math.sqrt(n - 1) > NormalDist().inv_cdf(1 - rate / 2) else 0.0


def dependent_pairs(vectors: "list[Floats]", rate: float) -> list[tuple[int, int]]:
    """Return the dependent pairs among vectors of one length, the most correlated first.

    Like `dependent` for all pairs at once; vectors with many ties are left out.

    **Arguments:** `rate`: how often any independent pair may be returned.
    """
    ranks = [_ranks(vector) for vector in vectors]
    kept = [
        i
        for i, one in enumerate(ranks)
        if one.size >= MIN_CORRELATED and _largest_share(one) <= TIED
    ]
    pairs = len(kept) * (len(kept) - 1) / 2
    if not pairs:
        return []
    unit = np.array([ranks[i] / math.sqrt(float(ranks[i] @ ranks[i])) for i in kept])
    r = np.triu(np.abs(unit @ unit.T), 1)
    limit = NormalDist().inv_cdf(1 - rate / pairs / 2) / math.sqrt(unit.shape[1] - 1)
    # Round, so that rounding errors do not decide which of equal pairs is named.
    found = sorted(np.argwhere(r > limit).tolist(), key=lambda at: -round(float(r[*at]), 6))
    return [(kept[i], kept[j]) for i, j in found]


def related_within(a: Sample) -> bool:
    """Return whether neighbours in a sample are related, as in random walks and sorted numbers.
    Two such samples can agree without a common key."""
    flat = a.numbers
    if flat.size < 4:
        return False
    r = _correlation(_ranks(flat[:-1]), _ranks(flat[1:]))
    return abs(r) * math.sqrt(flat.size - 2) > NormalDist().inv_cdf(1 - STRUCTURE / 2)


def same_numbers(a: Sample, b: Sample) -> bool:
    """Return whether two samples hold the same numbers in another order, which independent draws
    never do if nearly all numbers are distinct."""
    if a.numbers.size != b.numbers.size or a.numbers.size < 8:
        return False
    if a.numbers.sum() != b.numbers.sum() and not np.isclose(a.numbers.sum(), b.numbers.sum()):
        return False
    one, other = np.sort(a.numbers), np.sort(b.numbers)
    return bool((one == other).all()) and len(np.unique(one)) > 0.9 * one.size


def _ranks(values: Floats) -> Floats:
    """Return ranks centred on 0; equal numbers get the mean of their ranks."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[where.ravel()] - (values.size + 1) / 2
    return ranks


def _correlation(a: Floats, b: Floats) -> float:
    norm = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / norm if norm else 0.0


def _counts(ranks: Floats) -> Array:
    return np.unique(ranks, return_counts=True)[1]


def _largest_share(ranks: Floats) -> float:
    return float(_counts(ranks).max()) / ranks.size


def _chance_of_same_order(ranks: Floats) -> float:
    """Return the probability that a random permutation leaves these ranks unchanged."""
    ways = math.lgamma(ranks.size + 1) - sum(math.lgamma(c + 1) for c in _counts(ranks).tolist())
    return math.exp(-ways)


def _chance_of_coinciding(a: Floats, b: Floats) -> float:
    """Bound the probability that so many, or so few, large numbers of `a` and `b` coincide."""
    high_a, high_b = _upper_half(a), _upper_half(b)
    count, share = int(high_a.sum()), float(high_b.mean())
    if not count or not 0 < share < 1:
        return 1.0
    coinciding = float((high_a & high_b).sum()) / count
    return min(1.0, 2 * math.exp(-count * _divergence(coinciding, share)))


def _upper_half(ranks: Floats) -> Array:
    """Return which ranks are in the upper half, split as near to the middle as ties allow."""
    above, not_below = ranks > 0, ranks >= 0
    half = ranks.size / 2
    return np.asarray(
        above if abs(above.sum() - half) <= abs(not_below.sum() - half) else not_below
    )


def _divergence(p: float, q: float) -> float:
    """Return the Kullback-Leibler divergence of two Bernoulli distributions."""
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)
