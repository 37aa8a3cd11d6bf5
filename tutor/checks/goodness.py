"""Test whether numbers are independent draws from a named distribution.

Right draws fail at most once in `1 / FALSE_POSITIVE` checks. That is not an estimate: each test is
an inequality that holds for every sample size, and together they share the probability
(`tests/unit/test_goodness.py` also simulates it, at higher rates).

The numbers are turned into u = F(x), which is uniform on (0, 1) if F is their distribution. Then

- the empirical distribution of u is nowhere further from uniform than Massart (1990) allows;
- the means of the first Legendre polynomials of u (location, scale, skewness, tails) are within
  Bernstein's inequality (Neyman's smooth test, 1937, with exact bounds);
- the smallest and the largest u are close enough to 0 and 1 for the number of draws;
- the numbers are not a few values repeated;
- hardly any number is close to another one or to its mirror image (u and 1 - u, such as x and -x):
  one draw changes the count of the close ones by at most 2 (McDiarmid 1989).

For a discrete distribution the share of each value is within Bernstein's inequality.

For orders it is the share of every possible order, if there are few. If there are many, it is the
share of each number at each place, and of every relative order of neighbours: a table that is only
rolled, reversed or shuffled in blocks keeps its neighbours. In a random order, groups of neighbours
that do not overlap are independent of each other, so that one long order can be judged.
"""

import math

from tutor.arrays import Array, Floats, np
from tutor.checks.compare import apart
from tutor.checks.families import Continuous, Discrete, Family, Orders, parse

FALSE_POSITIVE = 1e-9
"""Probability that right draws in one array fail, over all tests."""

DEGREES = 4
"""Number of polynomials."""

TESTS = DEGREES + 4
"""Tests of a continuous distribution: the polynomials, both ends, the distance and copies."""

MAX_COPIES = 1 << 15
"""Numbers that are compared with each other: with more, independent ones in float32 are as close as
copies."""

CLOSE = 1 / 16
"""Two of n numbers are close if their u are less than this divided by n apart. An eighth of
independent ones are."""

GRID = 2.0**-23
"""Distance of the u that a generator of float32 numbers can draw."""

MAX_ORDERS = 1000
"""Possible orders of which each is counted."""

NEIGHBOURS = 4
"""Numbers whose relative order is counted in longer orders."""

FINE = 1e-6
"""Draws in a dtype with a smaller epsilon hardly ever repeat a number."""


def unlike(values: Floats, family: Family, epsilon: float, rate: float = FALSE_POSITIVE) -> str:
    """Return the evidence that `values` are not drawn from `family`; "" if there is none.

    **Arguments:** `epsilon`: of the dtype of the draws; `rate`: how often right draws may fail.
    """
    x = values.ravel()
    if not x.size:
        return ""
    if (infinite := int(np.count_nonzero(~np.isfinite(x)))) > 0:
        return f"{infinite} of {x.size} numbers are not finite"
    if isinstance(family, Orders):
        return _unlike_orders(values.reshape(-1, (1, *values.shape)[-1]), family, rate)
    if isinstance(family, Discrete):
        return _unlike_discrete(x, family, rate)
    return _unlike_continuous(x, family, epsilon, rate)


def _unlike_discrete(x: Floats, family: Discrete, rate: float) -> str:
    n = x.size
    values, counts = np.unique(x, return_counts=True)
    for value in values.tolist():
        if family.chances.get(value, 0.0) <= 0:
            # 0.9999999 is not the 1 that the distribution gives.
            given = np.array([*family.chances])
            shown, _ = apart(value, given[np.argmin(np.abs(given - value))])
            return f"{shown} is among them, which {family.name} never gives"
    count_of = dict(zip(values.tolist(), counts.tolist(), strict=True))
    bound = math.log(2 * len(family.chances) / rate)
    for value, chance in family.chances.items():
        count = count_of.get(value, 0)
        if expected := _unlikely(count, chance, n, bound):
            return f"{count} of {n} are {value:g}, {expected}"
    return ""


def _unlikely(count: int, chance: float, n: int, bound: float) -> str:
    """Return what was expected if n independent events of this chance are not that many."""
    expected, allowed = n * chance, _bernstein(chance * (1 - chance), 1.0, n, bound) * n
    if abs(count - expected) <= allowed:
        return ""
    low, high = max(0, math.ceil(expected - allowed)), min(n, int(expected + allowed))
    return f"expected about {expected:.0f} ({low} to {high})"


def _unlike_orders(rows: Floats, family: Orders, rate: float) -> str:
    n, length = family.n, rows.shape[1]
    in_order = np.sort(rows, axis=1)
    proper = np.isin(rows, np.arange(n)).all(axis=1) & (np.diff(in_order, axis=1) > 0).all(axis=1)
    if not proper.all():
        wrong = ", ".join(f"{number:g}" for number in rows[np.argmin(proper)].tolist())
        return f"[{wrong}] does not hold different numbers from 0 to {n - 1}"
    possible = math.perm(n, length)
    if possible <= MAX_ORDERS:
        return _uneven(rows, possible, "orders are", rate)
    size = min(NEIGHBOURS, length)
    groups = rows[:, : length // size * size].reshape(-1, size)
    ranks = groups.argsort(axis=1).argsort(axis=1)
    words = f"groups of {size} neighbours have the ranks"
    return _uneven(ranks, math.factorial(size), words, rate / 2) or _by_place(rows, n, rate / 2)


def _uneven(rows: Array, possible: int, words: str, rate: float) -> str:
    """Test whether all `possible` rows are equally frequent."""
    kinds, counts = np.unique(rows.astype(np.int64), axis=0, return_counts=True)
    n, chance, bound = len(rows), 1 / possible, math.log(2 * possible / rate)
    furthest = int(np.argmax(abs(counts - n * chance)))
    if expected := _unlikely(int(counts[furthest]), chance, n, bound):
        return f"{counts[furthest]} of {n} {words} {kinds[furthest].tolist()}, {expected}"
    if len(kinds) < possible and (expected := _unlikely(0, chance, n, bound)):
        return f"only {len(kinds)} of {possible} possible {words.split()[0]} occur, each {expected}"
    return ""


def _by_place(rows: Array, n: int, rate: float) -> str:
    """Test whether each number is equally frequent at each place."""
    bound = math.log(2 * n * rows.shape[1] / rate)
    for place, numbers in enumerate(rows.T.astype(np.int64)):
        counts = np.bincount(numbers, minlength=n)
        furthest = int(np.argmax(abs(counts - len(rows) / n)))
        if expected := _unlikely(int(counts[furthest]), 1 / n, len(rows), bound):
            return f"{counts[furthest]} of {len(rows)} have {furthest} at [{place}], {expected}"
    return ""


def _unlike_continuous(x: Floats, family: Continuous, epsilon: float, rate: float) -> str:
    n = x.size
    # How far a draw may have moved when it was rounded.
    rounding = epsilon * np.maximum(np.abs(x), family.width)
    outside = (x < family.low - rounding) | (x > family.high + rounding)
    if outside.any():
        bounds = f"[{family.low:.4g}, {family.high:.4g}]"
        worst = x[outside][np.argmax(np.abs(x[outside]))]
        shown, _ = apart(worst, family.low if worst < family.low else family.high, 4)
        return f"{np.count_nonzero(outside)} of {n} lie outside {bounds}, such as {shown}"
    if n > 1 and epsilon < FINE and (distinct := len(np.unique(x))) <= n // 2:
        return f"only {distinct} of {n} numbers are distinct"
    u = np.clip(family.cdf(x), 0.0, 1.0)
    slack = rounding / family.width  # no density is higher than 1 / width
    return (
        _at_the_ends(x, u, slack, family, rate)
        or _by_moments(x, u, family, epsilon, rate)
        or _by_distance(u - slack, u + slack, family, rate)
        or _by_copies(u, slack, rate)
    )


def _at_the_ends(x: Floats, u: Floats, slack: Floats, family: Continuous, rate: float) -> str:
    """Test the largest and the smallest: all n draws are below the u-quantile with probability
    u**n."""
    nearest = math.exp(math.log(rate / TESTS) / x.size)
    if (u + slack).max() < nearest:
        edge = f"come close to {family.high:.4g}" if math.isfinite(family.high) else "be larger"
        return f"the largest of {x.size} is {x.max():.4g}, and should {edge}"
    if 1 - (u - slack).min() < nearest:
        edge = f"come close to {family.low:.4g}" if math.isfinite(family.low) else "be smaller"
        return f"the smallest of {x.size} is {x.min():.4g}, and should {edge}"
    return ""


def _by_moments(x: Floats, u: Floats, family: Continuous, epsilon: float, rate: float) -> str:
    n, bound = x.size, math.log(2 * TESTS / rate)
    for degree in range(1, DEGREES + 1):
        peak = math.sqrt(2 * degree + 1)  # of the orthonormal polynomial, which has variance 1
        mean = float(peak * np.polynomial.Legendre.basis(degree)(2 * u - 1).mean())
        if abs(mean) > _bernstein(1.0, peak, n, bound) + epsilon * degree**2:
            return _moment(degree, mean, x, family)
    return ""


def _moment(degree: int, mean: float, x: Floats, family: Continuous) -> str:
    # A polynomial of u may be off although the moment of x is not; then do not mention the moment.
    if (
        degree == 1
        and family.mean is not None
        and abs(x.mean() - family.mean) > 0.02 * family.width
    ):
        return f"their mean is {x.mean():.4g}, expected {family.mean:.4g}"
    if degree == 2 and family.std is not None and abs(x.std() / family.std - 1) > 0.02:
        return f"their standard deviation is {x.std():.4g}, expected {family.std:.4g}"
    if degree % 2:
        return f"too many are {'large' if mean > 0 else 'small'} for {family.name}"
    # The even polynomials are largest at both ends.
    more = "tails" if mean > 0 else "middle"
    return f"there are too many in the {more} for {family.name}"


def _by_distance(low: Floats, high: Floats, family: Continuous, rate: float) -> str:
    n = low.size
    allowed = math.sqrt(math.log(2 * TESTS / rate) / (2 * n))
    steps = np.arange(n) / n
    above = float((steps + 1 / n - np.sort(high)).max())
    below = float((np.sort(low) - steps).max())
    if max(above, below) > allowed:
        return (
            f"their distribution function is off by {max(above, below):.1%} from {family.name}; "
            f"{n} draws come within {allowed:.1%}"
        )
    return ""


def _by_copies(u: Floats, slack: Floats, rate: float) -> str:
    """Count the numbers that are close to another one or to its mirror image. Numbers too coarse to
    tell are left out."""
    if u.size > MAX_COPIES:
        some = np.random.default_rng(0).permutation(u.size)[:MAX_COPIES]
        u, slack = u[some], slack[some]
    n, near = u.size, CLOSE / u.size
    u = u[slack < near / 4]
    folded = np.sort(abs(u - 0.5))  # of density 2
    close = int(np.count_nonzero(np.diff(folded) < near))
    expected = n * n * 2 * (near * 1.5 + GRID)  # rounding can move two numbers by near / 2
    if close <= expected + math.sqrt(2 * n * math.log(TESTS / rate)):
        return ""
    equal = 2 * np.count_nonzero(np.diff(np.sort(u)) < near) > close
    what = "repeat another one" if equal else "mirror another one, as -x mirrors x"
    return f"{close} of {n} numbers {what}, so they are not independent draws"


def _bernstein(variance: float, largest: float, n: int, bound: float) -> float:
    """Return a bound on how far a mean of n bounded draws is from its expectation."""
    return math.sqrt(2 * variance * bound / n) + largest * bound / (3 * n)


def looks_like(values: Floats, epsilon: float) -> str:
    """Return which common distribution fits `values`, if one does. It is a hint, not a verdict."""
    x = values.ravel()
    if x.size < 500 or not np.isfinite(x).all() or not x.std():
        return ""
    mean, std = float(x.mean()), float(x.std())
    half = 3**0.5 * std
    for text, name in (
        (f"uniform({mean - half!r}, {mean + half!r})", "uniformly"),
        (f"normal({mean!r}, {std!r})", "normally"),
    ):
        family = parse(text).at({})
        # Its parameters are estimated, so only its shape is compared.
        assert isinstance(family, Continuous)
        u = np.sort(np.clip(family.cdf(x), 0.0, 1.0))
        if np.abs(u - np.arange(x.size) / x.size).max() < 1.2 / math.sqrt(x.size):
            moments = f"with mean {mean:.3g} and standard deviation {std:.3g}"
            return f"they look {name} distributed, {moments}"
    return ""
