"""Dependence of random numbers: right draws pass, copies are found."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.checks import dependence
from tutor.checks.dependence import FALSE_POSITIVE, Sample, dependent_pairs


def dependent(a: Any, b: Any, rate: float) -> float:
    return dependence.dependent(Sample(a), Sample(b), rate)


def related_within(a: Any) -> bool:
    return dependence.related_within(Sample(a))


def same_numbers(a: Any, b: Any) -> bool:
    return dependence.same_numbers(Sample(a), Sample(b))


DRAWS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "cauchy": lambda rng, n: rng.standard_cauchy(n),
    "mask of nine tenths": lambda rng, n: (rng.random(n) < 0.9).astype(float),
    "mask of all but one in a hundred": lambda rng, n: (rng.random(n) < 0.99).astype(float),
    "coin": lambda rng, n: (rng.random(n) < 0.5).astype(float),
    "dice": lambda rng, n: rng.integers(1, 7, n).astype(float),
    "relu": lambda rng, n: np.maximum(rng.normal(size=n), 0),
}


@for_each(("one", "other"), itertools.combinations_with_replacement(DRAWS, 2))
def test_independent_draws_fail_at_most_at_the_stated_rate(one: str, other: str) -> None:
    """At a rate high enough to count. The bounds for ties are loose, so their rate is lower."""
    rate, runs = 0.02, 200
    rng = np.random.default_rng(5)
    for n in (9, 64, 300):
        accused = sum(
            dependent(DRAWS[one](rng, n), DRAWS[other](rng, n), rate) != 0 for _ in range(runs)
        )
        # The count of a right test exceeds this once in 10**6.
        assert accused <= rate * runs + 5 * math.sqrt(rate * runs), (n, accused)


@settings(max_examples=200)
@given(
    st.integers(0, 2**32),
    st.integers(16, 300),
    st.integers(0, 50),
    st.sampled_from([np.sinh, np.arctan, np.negative, lambda x: 3e4 * x + 7, lambda x: x**3]),
)
def test_monotone_images_of_the_same_numbers_are_dependent(
    seed: int, n: int, more: int, image: Callable[[Any], Any]
) -> None:
    stream = np.random.default_rng(seed).normal(size=n + more)
    assert abs(dependent(stream[:n], image(stream), FALSE_POSITIVE)) > 0.999


@pytest.mark.parametrize("keep", [0.5, 0.9])
def test_masks_from_the_same_bits_are_dependent(keep: float) -> None:
    bits = np.random.default_rng(0).random(1000)
    assert dependent((bits < keep) * 1.0, (bits < keep) * 1.0, FALSE_POSITIVE)
    assert dependent((bits < 0.5) * 1.0, (bits < 0.6) * 1.0, FALSE_POSITIVE)
    assert dependent((bits < 0.5) * 1.0, bits, FALSE_POSITIVE) < 0


def test_few_or_constant_numbers_are_not_dependent() -> None:
    assert dependent(np.arange(9.0), np.arange(9.0), FALSE_POSITIVE) == 0.0
    assert dependent(np.arange(14.0), np.arange(14.0), FALSE_POSITIVE) == 1.0  # once in 14!
    assert dependent(np.ones(100), np.arange(100.0), FALSE_POSITIVE) == 0.0
    assert dependent(np.full(100, np.inf), np.arange(100.0), FALSE_POSITIVE) == 0.0
    assert dependent(np.ones(0), np.ones(0), FALSE_POSITIVE) == 0.0


def test_related_neighbours_are_detected() -> None:
    rng = np.random.default_rng(0)
    assert related_within(np.sort(rng.normal(size=200)))
    assert related_within(rng.normal(size=200).cumsum())
    assert not any(related_within(rng.normal(size=200)) for _ in range(200))


def test_the_same_numbers_are_detected_in_any_order() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(8, 4))
    assert same_numbers(numbers, rng.permutation(numbers.ravel()).reshape(4, 8))
    assert not same_numbers(numbers, rng.normal(size=(8, 4)))
    assert not same_numbers(np.ones(99), np.ones(99))  # masks agree by chance


@pytest.mark.parametrize("shape", [(40, 64), (12, 500)])
def test_independent_rows_fail_at_most_at_the_stated_rate(shape: tuple[int, int]) -> None:
    rate, runs = 0.05, 200
    rng = np.random.default_rng(3)
    accused = sum(bool(dependent_pairs([*rng.normal(size=shape)], rate)) for _ in range(runs))
    assert accused <= rate * runs + 5 * math.sqrt(rate * runs), accused


@pytest.mark.parametrize("image", [np.negative, np.exp, lambda x: 3 * x + 1])
def test_a_row_made_from_another_is_found(image: Callable[[Any], Any]) -> None:
    rows = np.random.default_rng(0).normal(size=(300, 80))
    rows[270] = image(rows[31])
    assert dependent_pairs([*rows], FALSE_POSITIVE) == [(31, 270)]


def test_short_rows_and_rows_with_ties_are_not_compared() -> None:
    short = np.zeros((4, 63)) + np.arange(63.0)
    assert not dependent_pairs([*short], FALSE_POSITIVE)
    assert not dependent_pairs(
        [*(np.random.default_rng(0).random((9, 80)) < 0.9) * 1.0], FALSE_POSITIVE
    )
    assert not dependent_pairs([], FALSE_POSITIVE)
