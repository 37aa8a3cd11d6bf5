"""Random orders pass at the stated rate; orders that keep their neighbours are found."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from tutor.check import Case
from tutor.checks.distribution import Distribution
from tutor.checks.families import parse
from tutor.checks.goodness import unlike
from tutor.checks.permutation import Permutation, unshuffled
from tutor.tree import Leaf, Tree

Shuffle = Callable[[np.random.Generator, int], Any]


def _swapped(rng: np.random.Generator, n: int, low: Callable[[int], int]) -> Any:
    """Swap each place with a random one, at least `low`."""
    rows = np.arange(n)
    for i in range(n - 1):
        j = rng.integers(low(i), n)
        rows[[i, j]] = rows[[j, i]]
    return rows


def _in_blocks(rng: np.random.Generator, n: int, size: int) -> Any:
    blocks = [np.arange(start, min(start + size, n)) for start in range(0, n, size)]
    return np.concatenate([blocks[i] for i in rng.permutation(len(blocks))])


def _stepped(rng: np.random.Generator, n: int) -> Any:
    step = rng.choice([a for a in range(1, n) if math.gcd(a, n) == 1])
    return (step * np.arange(n) + rng.integers(n)) % n


RIGHT: dict[str, Shuffle] = {
    "sorted noise": lambda rng, n: rng.random(n).argsort(),
    "Fisher and Yates": lambda rng, n: _swapped(rng, n, lambda i: i),
    "without replacement": lambda rng, n: rng.choice(n, n, replace=False),
}


def _rolled(rng: np.random.Generator, n: int) -> Any:
    return np.roll(np.arange(n), rng.integers(1, n))


ROLLED: dict[str, Shuffle] = {
    "rolled": _rolled,
    "rolled or reversed": lambda rng, n: _rolled(rng, n)[:: rng.choice([-1, 1])],
    "every k-th row": _stepped,
}
WRONG: dict[str, Shuffle] = {
    **ROLLED,
    "blocks": lambda rng, n: np.roll(_in_blocks(rng, n, 4), rng.integers(n)),
    "one fixed order, rolled": lambda rng, n: np.roll(
        np.random.default_rng(3).permutation(n), rng.integers(n)
    ),
    "near its old place": lambda rng, n: (
        (np.arange(n) + 2 * rng.random(n)).argsort() + rng.integers(n)
    ) % n,
    "each half for itself": lambda rng, n: np.concatenate(
        [rng.permutation(n // 2), n // 2 + rng.permutation(n - n // 2)]
    ),
    "one cycle": lambda rng, n: _swapped(rng, n, lambda i: i + 1),
    "swaps with any place": lambda rng, n: _swapped(rng, n, lambda i: 0),
}  # fmt: skip


def told(rows: Any, n: int, rate: float = 1e-9) -> str:
    return unlike(np.asarray(rows, np.float64), parse(f"permutation({n})").at({}), 1.0, rate)


def many(shuffle: Shuffle, count: int, n: int) -> Any:
    rng = np.random.default_rng(0)
    return np.stack([shuffle(rng, n) for _ in range(count)])


@for_each("name", RIGHT)
def test_random_orders_fail_at_most_at_the_stated_rate(name: str) -> None:
    """At a rate high enough to count."""
    rate, runs = 0.02, 100
    for n, length in ((4, 4), (5, 2), (9, 9), (40, 10)):
        rows = many(RIGHT[name], runs * 40, n)[:, :length].reshape(runs, 40, length)
        failed = sum(told(part, n, rate) != "" for part in rows)
        assert failed <= rate * runs + 5 * math.sqrt(rate * runs), (n, failed)
    for n in (3, 5, 9, 30, 200):
        orders = many(RIGHT[name], 1000, n)
        failed = sum(unshuffled(order, rate) != "" for order in orders)
        assert failed <= rate * 1000 + 5 * math.sqrt(rate * 1000), (n, failed)


@pytest.mark.parametrize("n", range(3, 9))
def test_the_chance_of_kept_neighbours_is_bounded_for_all_orders(n: int) -> None:
    """The bound that `unshuffled` rests on, counted."""
    orders = np.array([*itertools.permutations(range(n))])
    steps = np.diff(orders, axis=1) % n
    for distance in range(1, n):
        counts = (steps == distance).sum(axis=1)
        for k in range(1, n):
            assert (counts >= k).mean() <= 1 / math.factorial(k) + 1e-12, (distance, k)


@for_each("name", WRONG)
def test_wrong_shuffles_of_few_rows_are_found(name: str) -> None:
    assert told(many(WRONG[name], 20_000, 4), 4)


@for_each("name", [name for name in WRONG if not name.startswith("swaps")])
def test_wrong_shuffles_of_many_rows_are_found_by_neighbours_and_places(name: str) -> None:
    for n, length in ((11, 10), (13, 5)):
        assert told(many(WRONG[name], 4_000, n)[:, :length], n), n


@for_each("name", ROLLED)
def test_one_order_of_some_rows_shows_that_they_were_not_shuffled(name: str) -> None:
    check = Permutation(permutation="f(x)", expect="x")
    for n in (16, 31, 100):
        x, y = np.arange(n) * 10.0, np.arange(n) % 3
        expected: Tree = [Leaf(x, "jax.Array"), Leaf(y, "jax.Array")]
        order = ROLLED[name](np.random.default_rng(n), n)
        finding = check.judge(
            [Leaf(x[order], "jax.Array"), Leaf(y[order], "jax.Array")], expected, Case(0, {}, ({},))
        )
        assert finding is not None
        assert "pairs of neighbours were" in finding.message, finding
        order = np.random.default_rng(n).permutation(n)
        moved: Tree = [Leaf(x[order], "jax.Array"), Leaf(y[order], "jax.Array")]
        assert check.judge(moved, expected, Case(0, {}, ({},))) is None


def test_rows_that_hardly_moved_are_not_shuffled() -> None:
    rng = np.random.default_rng(0)
    order = (np.arange(200) + 60 * rng.random(200)).argsort()
    assert "rank correlation with the old order is 0.9" in unshuffled(order)


@for_each(
    ("rows", "message"),
    [
        ([[0, 1, 1]], "[0, 1, 1] does not hold different numbers from 0 to 3"),
        ([[0, 1, 4]], "[0, 1, 4] does not hold different numbers"),
        ([[0, 1, 2, 3]] * 100, "100 of 100 orders are [0, 1, 2, 3], expected about 4 (0 to "),
        ([2, 0, 1, 3], ""),
    ],
)
def test_what_is_wrong_with_orders_is_described(rows: Any, message: str) -> None:
    check = Distribution(distribution="f(key)", is_="permutation(n)")
    finding = check.judge(
        Leaf(np.asarray(rows, np.int32), "jax.Array"), None, Case(0, {"n": 4}, ({},))
    )
    assert (finding is None) == (not message)
    assert finding is None or message in finding.message
