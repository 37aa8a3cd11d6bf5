"""Right draws from named distributions pass; for wrong ones the message says what is wrong."""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.check import Case
from tutor.checks.distribution import Distribution
from tutor.checks.families import FAMILIES, Continuous, Discrete, parse
from tutor.checks.goodness import looks_like, unlike
from tutor.inputs.arithmetic import ArithmeticFault
from tutor.tree import Leaf, Tree

EPSILON = float(np.finfo(np.float32).eps)

RIGHT: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal(2, 0.1)": lambda rng, n: rng.normal(2, 0.1, n),
    "uniform(-0.07, 0.07)": lambda rng, n: rng.uniform(-0.07, 0.07, n),
    "truncated_normal(-2, 2)": lambda rng, n: _truncated(rng, n, -2, 2),
    "truncated_normal(0.5, 3, 1, 2)": lambda rng, n: 1 + 2 * _truncated(rng, n, -0.25, 1),
    "exponential(3)": lambda rng, n: rng.exponential(3, n),
    "laplace(1, 2)": lambda rng, n: rng.laplace(1, 2, n),
    "logistic(1, 2)": lambda rng, n: rng.logistic(1, 2, n),
    "gumbel(1, 2)": lambda rng, n: rng.gumbel(1, 2, n),
    "cauchy(1, 2)": lambda rng, n: 1 + 2 * rng.standard_cauchy(n),
    "bernoulli(0.9)": lambda rng, n: rng.random(n) < 0.9,
    "integers(-2, 5)": lambda rng, n: rng.integers(-2, 5, n),
    "categorical(0.2, 0.3, 0.5)": lambda rng, n: rng.choice(3, n, p=[0.2, 0.3, 0.5]),
    "rademacher()": lambda rng, n: rng.choice([-1, 1], n),
    "poisson(4)": lambda rng, n: rng.poisson(4, n),
    "permutation(5)": lambda rng, n: np.stack([rng.permutation(5)[:3] for _ in range(n)]),
}


def _truncated(rng: np.random.Generator, n: int, low: float, high: float) -> Any:
    z = rng.normal(size=20 * n + 100)
    return z[(z > low) & (z < high)][:n]


def told(x: Any, text: str, epsilon: float = EPSILON, rate: float = 1e-9) -> str:
    return unlike(np.asarray(x, np.float32).astype(np.float64), parse(text).at({}), epsilon, rate)


def test_there_is_one_of_each_family_here() -> None:
    assert {text.partition("(")[0] for text in RIGHT} == set(FAMILIES)


@for_each("text", RIGHT)
def test_right_draws_fail_at_most_at_the_stated_rate(text: str) -> None:
    """At a rate high enough to count. The bounds hold for every size, so they are not tight."""
    rate, runs = 0.02, 150
    rng = np.random.default_rng(1)
    for n in (1, 30, 2000):
        failed = sum(told(RIGHT[text](rng, n), text, rate=rate) != "" for _ in range(runs))
        assert failed <= rate * runs + 5 * math.sqrt(rate * runs), (n, failed)


@for_each("text", RIGHT)
def test_mean_std_and_probabilities_match_draws(text: str) -> None:
    family, x = parse(text).at({}), RIGHT[text](np.random.default_rng(2), 200_000)
    if isinstance(family, Discrete):
        assert sum(family.chances.values()) == pytest.approx(1)
    if not isinstance(family, Continuous):
        return
    assert np.all(np.diff(family.cdf(np.sort(x))) >= 0)
    if family.mean is not None and family.std is not None:
        assert x.mean() == pytest.approx(family.mean, abs=0.02 * family.std)
        assert x.std() == pytest.approx(family.std, rel=0.02)
    # No density is higher than 1 / width.
    grid = np.linspace(*np.quantile(x, [0.001, 0.999]), 2000)
    assert np.diff(family.cdf(grid)).max() <= (grid[1] - grid[0]) / family.width * 1.001


N = 20_000


@for_each(
    ("text", "draw", "copied", "words"),
    [
        ("normal()", "normal", lambda x: -x, "mirror another one"),
        ("normal()", "normal", lambda x: 1e-6 - x, "mirror another one"),
        ("normal()", "normal", lambda x: x + 1e-6, "repeat another one"),
        ("laplace()", "laplace", lambda x: -x, "mirror another one"),
        ("cauchy()", "standard_cauchy", lambda x: -x, "mirror another one"),
        ("uniform()", "random", lambda x: 1 - x, "mirror another one"),
        ("exponential()", "exponential", lambda x: -np.log(-np.expm1(-x)), "mirror another one"),
    ],
)
def test_copies_and_mirror_images_in_any_order_are_found(
    text: str, draw: str, copied: Callable[[Any], Any], words: str
) -> None:
    for n in (1_000, 10_000, 50_000):
        rng = np.random.default_rng(n)
        x = getattr(rng, draw)(size=n // 2)
        assert words in told(rng.permutation(np.concatenate([x, copied(x)])), text), n


def test_draws_from_a_pool_of_draws_are_found() -> None:
    rng = np.random.default_rng(0)
    assert "repeat another one" in told(rng.choice(rng.normal(size=N), N), "normal()")


@for_each("text", ["uniform()", "normal()", "normal(3, 0.1)"])
def test_draws_of_float32_bits_fail_at_most_at_the_stated_rate(text: str) -> None:
    """They come from 2**23 numbers, so among many some are equal or opposite."""
    rng = np.random.default_rng(6)
    quantile = NormalDist(*((3, 0.1) if "3" in text else (0, 1))).inv_cdf
    for n, runs in ((300, 100), (30_000, 10), (200_000, 2)):
        for _ in range(runs):
            u = rng.integers(1, 2**23, n) / 2**23
            x = u if text == "uniform()" else [*map(quantile, u.tolist())]
            assert told(x, text, rate=1e-4) == "", n


@for_each(
    ("text", "draw", "words"),
    [
        ("normal(0, 1)", lambda rng: np.zeros(N), "only 1 of 20000 numbers are distinct"),
        ("normal(0, 1)", lambda rng: np.zeros(3), "only 1 of 3 numbers are distinct"),
        ("normal(0, 1)", lambda rng: np.full(N, np.nan), "20000 of 20000 numbers are not finite"),
        ("normal(0, 1)", lambda rng: rng.normal(size=N) + 0.1, "their mean is 0."),
        ("normal(0, 1)", lambda rng: 1.1 * rng.normal(size=N), "their standard deviation is 1."),
        ("normal(0, 1)", lambda rng: rng.uniform(-(3**0.5), 3**0.5, N), "should be larger"),
        ("normal(0, 1)", lambda rng: abs(rng.normal(size=N)), "should be smaller"),
        ("normal(0, 1)", lambda rng: rng.laplace(size=N) / 2**0.5, "too many in the "),
        ("normal(0, 1)", lambda rng: _truncated(rng, N, -2, 2) / 0.88, "should be larger"),
        ("normal(0, 1)", lambda rng: np.repeat(rng.normal(size=N // 100), 100), "only 200 of"),
        ("normal(0, 1)", lambda rng: np.round(rng.normal(size=N)), "numbers are distinct"),
        ("uniform(-1, 1)", lambda rng: rng.normal(0, 3**-0.5, N), "lie outside [-1, 1]"),
        ("uniform(-1, 1)", lambda rng: rng.uniform(-1.02, 1.02, N), "lie outside [-1, 1]"),
        ("uniform(-1, 1)", lambda rng: rng.uniform(-0.98, 0.98, N), "should come close to 1"),
        ("uniform(-1, 1)", lambda rng: rng.uniform(0, 1, N), "should come close to -1"),
        ("uniform(-1, 1)", lambda rng: rng.beta(2, 2, N) * 2 - 1, "should come close to"),
        ("uniform(-1, 1)", lambda rng: rng.beta(0.8, 0.8, N) * 2 - 1, "their standard deviation"),
        ("bernoulli(0.9)", lambda rng: rng.random(N) < 0.5, "are 0, expected about 2000 ("),
        ("bernoulli(0.9)", lambda rng: (rng.random(N) < 0.9) / 0.9, "which bernoulli(0.9) ne"),
        ("integers(0, 5)", lambda rng: rng.integers(0, 4, N), "are 0, expected about 4000 ("),
        ("integers(0, 5)", lambda rng: rng.integers(0, 6, N), "5 is among them, which"),
        ("poisson(3)", lambda rng: rng.poisson(3.5, N), "expected about"),
    ],
)  # fmt: skip
def test_wrong_draws_are_described(text: str, draw: Callable[[Any], Any], words: str) -> None:
    for seed in range(3):
        assert words in told(draw(np.random.default_rng(seed)), text)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_draws_in_half_precision_pass(name: str) -> None:
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    epsilon = float(ml_dtypes.finfo(dtype).eps)
    for text in ("normal(0, 1)", "uniform(0, 1)", "uniform(-0.07, 0.07)"):
        for seed in range(5):
            rng, family = np.random.default_rng(seed), parse(text).at({})
            assert isinstance(family, Continuous)
            x = rng.normal(size=N) if family.std == 1 else rng.uniform(family.low, family.high, N)
            x = x.astype(dtype).astype(np.float64)
            assert unlike(x, family, epsilon) == ""
            assert unlike(1.2 * x, family, epsilon)


def test_a_fitting_distribution_is_named() -> None:
    rng = np.random.default_rng(0)
    text = "they look uniformly distributed, with mean 4"
    assert looks_like(rng.uniform(3, 5, 2000), EPSILON).startswith(text)
    text = "they look normally distributed, with mean 3 and standard deviation 0."
    assert looks_like(rng.normal(3, 0.1, 2000), EPSILON).startswith(text)
    assert looks_like(rng.exponential(size=2000), EPSILON) == ""
    assert looks_like(np.zeros(2000), EPSILON) == ""


# --- parsing ------------------------------------------------------------------------------------


@for_each(
    ("text", "message"),
    [
        ("norml(0, 1)", "unknown distribution 'norml'; choose from normal, uniform"),
        ("normal", "must be a distribution such as normal(0, 1)"),
        ("normal(0, 1, 2)", "wrong number of parameters; use normal(mean=0, std=1)"),
        ("normal(mean=0)", "must be a distribution"),
        ("normal(f(x), 1)", "expected a number, a size"),
        ("normal(0, -1)", "the standard deviation must be positive, got -1"),
        ("uniform(1, 0)", "the lower bound must be below the upper, got 1 and 0"),
        ("bernoulli(1.5)", "the probability must be between 0 and 1, got 1.5"),
        ("integers(0, 0.5)", "the bounds must be at most 1000 integers apart"),
        ("integers(0, 9**9)", "the bounds must be at most 1000 integers apart"),
        ("poisson(1e9)", "the rate must be at most 200"),
        ("normal(0, 9**9**9**9**9)", "that arithmetic has no result"),
        ("normal(0, (-1)**0.5)", "that arithmetic has no result"),
        ("normal(0, 1 / 0)", "that arithmetic has no result"),
        ("normal(n, 1)", "no size is called 'n'"),
        ("truncated_normal(50, 60)", "the probability between the bounds must be positive"),
        ("categorical(-1, 1)", "probabilities must not be negative"),
        ("normal(" + "(" * 300 + ")", "must have at most 200 characters, got 308"),
    ],
)
def test_invalid_distributions_are_refused(text: str, message: str) -> None:
    with pytest.raises(ArithmeticFault) as caught:
        parse(text).at({})
    assert message in str(caught.value)


@given(st.text(max_size=30))
def test_any_text_is_parsed_or_refused_as_a_distribution(text: str) -> None:
    for source in (text, f"normal({text})", f"uniform(0, {text})"):
        try:
            parse(source).at({"n": 3})
        except ArithmeticFault as error:
            assert str(error)  # noqa: PT017 - either will do


def test_sizes_are_parameters() -> None:
    family = parse("uniform(-1 / n**0.5, 1 / n**0.5)").at({"n": 4})
    assert isinstance(family, Continuous)
    assert (family.low, family.high) == (-0.5, 0.5)


# --- the check ----------------------------------------------------------------------------------


def leaf(values: Any, name: str = "float32") -> Leaf:
    return Leaf(np.asarray(values, name), "jax.Array")


def judged(seen: Tree, wanted: Any) -> str:
    check = Distribution(distribution="f(key)", is_=wanted)
    finding = check.judge(seen, None, Case(0, {"n": 100}, ({},)))
    return finding.message if finding is not None else ""


def test_every_array_of_a_tree_is_tested_against_its_own_distribution() -> None:
    rng = np.random.default_rng(0)
    tree: Tree = {"w": [leaf(rng.normal(0, 0.1, (99, 9)))], "b": leaf(rng.random(500))}
    assert judged(tree, {"w": "normal(0, 1 / n**0.5)", "b": "uniform()"}) == ""
    assert judged(tree["w"], ["normal(0, 0.1)"]) == ""  # type: ignore[call-overload, index]
    message = judged(tree, {"w": ["normal(0, 0.2)"], "b": "uniform()"})
    assert message.startswith("['w'][0]: not drawn from normal(0, 0.2): the largest of 891 is 0.3")
    assert "; they look normally distributed, with mean -0.002" in message
    assert judged(tree, "normal(0, 0.1)").startswith("['b']: not drawn from normal(0, 0.1): ")


@for_each(
    ("seen", "wanted", "message"),
    [
        (None, "normal()", "found None, expected arrays of random numbers"),
        ([], "normal()", "found [], expected arrays of random numbers"),
        (leaf([1j], "complex64"), "normal()", "found complex64[1], expected real numbers"),
        ([leaf([1.0])], ["normal()", "normal()"], "found [float32[1]], expected 2 items"),
        (leaf([1.0]), {"w": "normal()"}, "found float32[1], expected 1 items"),
        ({"w": leaf([3.0])}, {"w": "uniform()"}, "['w']: not drawn from uniform(): 1 of 1 lie out"),
    ],
)
def test_malformed_answers_have_a_message(seen: Tree, wanted: Any, message: str) -> None:
    assert judged(seen, wanted).startswith(message)
