"""Whether two arrays of random numbers are drawn from the same key.

Two draws from one key start with the same bits, whatever their shapes and distributions, so their
beginnings rise and fall together. Ranks are compared, not values: whatever the distribution (a
Cauchy has no variance), the ranks of independent draws are a random permutation, and how they
agree by chance is known exactly:

- n numbers without ties are in the same order once in n!, with ties accordingly more often;
- the correlation of many ranks without ties is normal with variance 1 / (n - 1);
- where most numbers are the same (Bernoulli masks), the count of large numbers that meet large
  numbers is hypergeometric, and bounded by Hoeffding's inequality.

What the numbers cannot tell is left to the ledger of keys (`inside/prng.py`), which decides alone:
where there are too few of them; where neighbours in one array are related already (a random walk,
sorted numbers); where arrays from *different* keys agree as well (a common scale or mask).
"""

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

FALSE_POSITIVE = 1e-9
"""Of one `prng` check, over all pairs that it compares."""

STRUCTURE = 1e-4
"""Arrays from different keys that agree as rarely as this share some structure."""

MANY = 64
"""From so many numbers on the correlation of ranks is normal enough, far into its tails."""

TIED = 0.05
"""A larger share of one number is counted, not ranked."""


NEAR_ZERO = 3.0
"""Standard deviations of a correlation: below so many there is nothing to look into."""


class Sample:
    """Numbers whose ranks are compared with those of several others."""

    def __init__(self, numbers: "Floats") -> None:
        self.numbers = numbers.ravel()
        self._ranks: dict[int, Floats] = {}

    def ranks(self, n: int) -> "Floats":
        """Of the first n."""
        if n not in self._ranks:
            self._ranks[n] = _ranks(self.numbers[:n])
        return self._ranks[n]


def dependent(a: Sample, b: Sample, rate: float) -> float:
    """Return the rank correlation of the common beginning of two samples if independent draws show
    one so large less often than `rate`, else 0."""
    n = min(a.numbers.size, b.numbers.size)
    if n < 2:
        return 0.0
    ranks, others = a.ranks(n), b.ranks(n)
    r = _correlation(ranks, others)
    if abs(r) * math.sqrt(n - 1) < NEAR_ZERO:
        return 0.0
    if abs(r) > 1 - 1e-12 and 2 * _chance_of_one_order(ranks) < rate:
        return r
    if n < MANY:
        return 0.0
    if max(_largest_share(ranks), _largest_share(others)) > TIED:
        return r if _chance_of_meeting(ranks, others) < rate else 0.0
    return r if abs(r) * math.sqrt(n - 1) > NormalDist().inv_cdf(1 - rate / 2) else 0.0


def alike(vectors: "list[Floats]", rate: float) -> list[tuple[int, int]]:
    """Return which of many vectors of one length are dependent on each other, the most so first.

    Like `dependent` for all pairs at once, for numbers without many ties.

    **Arguments:** `rate`: how often any pair of independent ones may be among them.
    """
    import numpy as np

    ranks = [_ranks(vector) for vector in vectors]
    kept = [i for i, one in enumerate(ranks) if one.size >= MANY and _largest_share(one) <= TIED]
    pairs = len(kept) * (len(kept) - 1) / 2
    if not pairs:
        return []
    unit = np.array([ranks[i] / math.sqrt(float(ranks[i] @ ranks[i])) for i in kept])
    r = np.triu(np.abs(unit @ unit.T), 1)
    limit = NormalDist().inv_cdf(1 - rate / pairs / 2) / math.sqrt(unit.shape[1] - 1)
    # Rounded, or it would be chance which of many equal pairs is named.
    found = sorted(np.argwhere(r > limit).tolist(), key=lambda at: -round(float(r[*at]), 6))
    return [(kept[i], kept[j]) for i, j in found]


def related_within(a: Sample) -> bool:
    """Return whether neighbours in one sample are related, so that two may well agree without any
    common key: random walks, sorted numbers."""
    flat = a.numbers
    if flat.size < 4:
        return False
    r = _correlation(_ranks(flat[:-1]), _ranks(flat[1:]))
    return abs(r) * math.sqrt(flat.size - 2) > NormalDist().inv_cdf(1 - STRUCTURE / 2)


def same_numbers(a: Sample, b: Sample) -> bool:
    """Return whether two samples hold the same numbers in another order. If nearly all numbers are
    different, independent draws never do."""
    import numpy as np

    if a.numbers.size != b.numbers.size or a.numbers.size < 8:
        return False
    if a.numbers.sum() != b.numbers.sum() and not np.isclose(a.numbers.sum(), b.numbers.sum()):
        return False
    one, other = np.sort(a.numbers), np.sort(b.numbers)
    return bool((one == other).all()) and len(np.unique(one)) > 0.9 * one.size


def _ranks(values: "Floats") -> "Floats":
    """Ranks around 0; equal numbers share the mean of theirs."""
    import numpy as np

    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[where.ravel()] - (values.size + 1) / 2
    return ranks


def _correlation(a: "Floats", b: "Floats") -> float:
    norm = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / norm if norm else 0.0


def _counts(ranks: "Floats") -> "np.ndarray[Any, np.dtype[np.int64]]":
    import numpy as np

    return np.unique(ranks, return_counts=True)[1]


def _largest_share(ranks: "Floats") -> float:
    return float(_counts(ranks).max()) / ranks.size


def _chance_of_one_order(ranks: "Floats") -> float:
    """How often a random permutation of these leaves them as they are."""
    ways = math.lgamma(ranks.size + 1) - sum(math.lgamma(c + 1) for c in _counts(ranks).tolist())
    return math.exp(-ways)


def _chance_of_meeting(a: "Floats", b: "Floats") -> float:
    """A bound on how often large numbers of `a` meet as many large ones of `b`, or as few."""
    high_a, high_b = _upper_half(a), _upper_half(b)
    count, share = int(high_a.sum()), float(high_b.mean())
    if not count or not 0 < share < 1:
        return 1.0
    met = float((high_a & high_b).sum()) / count
    return min(1.0, 2 * math.exp(-count * _divergence(met, share)))


def _upper_half(ranks: "Floats") -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Split as near to the middle as ties allow."""
    import numpy as np

    above, not_below = ranks > 0, ranks >= 0
    half = ranks.size / 2
    return np.asarray(
        above if abs(above.sum() - half) <= abs(not_below.sum() - half) else not_below
    )


def _divergence(p: float, q: float) -> float:
    """Kullback and Leibler's, of Bernoulli distributions."""
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)
