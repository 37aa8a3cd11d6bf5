"""Causes of wrong numbers are found where they hold, and only there."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tutor.checks.compare import compare
from tutor.explain.causes import causes_of
from tutor.explain.causes.comparison import Fields, comparison
from tutor.tree import Leaf, Tree

pytestmark = pytest.mark.usefixtures("home")

BY_SHAPE = {"another-input"}  # which needs no numbers; its rule has further conditions


def leaf(value: Any) -> Leaf:
    return Leaf(np.asarray(value, np.float32), "jax.Array")


def causes(
    expected: Tree,
    actual: Tree,
    inputs: dict[str, Tree] | None = None,
    devices: int = 1,
    source: str = "",
) -> dict[str, Fields]:
    mismatch = compare(expected, actual)
    if mismatch is None:
        return {}
    found = comparison(mismatch, expected, actual, None, inputs or {}, devices, source)
    assert found is not None
    return causes_of(found)


SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=5)
SEEDS = st.integers(0, 2**32 - 1)
CODE = "def f(x):\n    x = 0.1 * x / len(x)\n    x.at[0].set(1)\n    return 0.9 * x.sum() / 3\n"


@given(SHAPES, SEEDS)
def test_a_right_answer_has_no_cause(shape: tuple[int, ...], seed: int):
    numbers = leaf(np.random.default_rng(seed).normal(size=shape))
    assert not causes(numbers, numbers, {"x": numbers}, 4, CODE)


@settings(max_examples=400)
@given(SHAPES, SHAPES, SEEDS, st.sampled_from([1e-3, 1.0, 100.0]))
def test_unrelated_numbers_have_no_cause(
    shape: tuple[int, ...], other: tuple[int, ...], seed: int, scale: float
):
    random = np.random.default_rng(seed)
    inputs: dict[str, Tree] = {"x": leaf(random.normal(size=shape)), "n": leaf(random.normal())}
    for one, two in ((shape, shape), (shape, other)):
        expected, actual = (leaf(random.normal(size=s) * scale) for s in (one, two))
        found = causes(expected, actual, inputs, 4, CODE)
        assert not found.keys() - BY_SHAPE, found


@given(SEEDS, st.sampled_from([(3,), (5, 4), (2, 3, 4)]))
def test_an_arbitrary_factor_is_not_a_count(seed: int, shape: tuple[int, ...]):
    random = np.random.default_rng(seed)
    factor = float(random.uniform(0.1, 9))
    numbers = random.normal(size=shape)
    counts = {2, 3, 4, 5, 7, *shape, int(np.prod(shape))}
    shares = [n / (n - 1) for n in counts]
    known = [*counts, *shares, *np.sqrt(shares)]
    assume(all(abs(factor / one - 1) > 1e-3 for n in known for one in (n, 1 / n)))
    found = causes(leaf(numbers), leaf(factor * numbers), {"x": leaf(numbers)}, 4)
    assert not found.keys() - BY_SHAPE, (factor, found)


@given(SEEDS, st.integers(3, 40), st.booleans())
def test_any_count_is_named(seed: int, count: int, too_large: bool):
    numbers = np.random.default_rng(seed).normal(size=(6, 2))
    factor = count if too_large else 1 / count
    found = causes(leaf(numbers), leaf(factor * numbers), {"n": leaf(count)})
    wanted = {"factor": str(count), "how": "large" if too_large else "small"}
    assert found["by-a-count"].items() >= wanted.items()


@given(SEEDS, st.floats(0.05, 0.45))
def test_a_step_uphill_is_found_for_every_rate(seed: int, rate: float):
    p, g = np.random.default_rng(seed).normal(size=(2, 5, 3))
    assert "uphill" in causes(leaf(p - rate * g), leaf(p + rate * g), {"p": leaf(p)})


RANDOM = np.random.default_rng(0)
X, P, G, M = RANDOM.normal(size=(4, 5, 5))
T = RANDOM.normal(size=(7, 3))
V = RANDOM.normal(size=7)
BOX = RANDOM.normal(size=(2, 3, 4))
MASK = np.array([1, 0, 1, 1, 0, 0, 1.0])
LENGTHS = np.array([2, 3, 1, 3, 2])
Y = np.where(np.arange(3) < LENGTHS[:, None], X[:, :3], 0.0)
VELOCITY = 0.9 * M + G
AT = np.array([0, 2, 2, 4])
ADDED = np.stack([(row == AT) @ V[:4] for row in range(7)])


@pytest.mark.parametrize(
    ("name", "expected", "actual", "fields"),
    [
        ("zero", V, 0 * V, {}),
        ("nan", V, np.where(V > 0, V, np.nan), {}),
        ("an-input", X * 2, P, {"input": "p['w']"}),
        ("update-not-assigned", X * 2, P, {"input": "p['w']"}),
        ("shifted", np.cumsum(V), np.cumsum(V) - V, {"axis": "0", "when": "late"}),
        ("shifted", V, np.append(V[1:], 0), {"axis": "0", "when": "early"}),
        ("reshaped", T, T.T.reshape(7, 3), {}),
        ("reordered", V, V[[1, 0, 2, 3, 4, 6, 5]], {}),
        ("axes-swapped", T, T.T, {"shape": "(3, 7)", "expected_shape": "(7, 3)"}),
        ("axis-at-the-front", BOX, np.moveaxis(BOX, 2, 0), {"axis": "2"}),
        ("first-axes-swapped", BOX, BOX.swapaxes(0, 1), {"shape": "(3, 2, 4)"}),
        ("steps-missing", T, T[1:], {"count": "1", "end": "beginning", "axis": "0"}),
        ("another-input", X[0], RANDOM.normal(size=(11, 2)),
         {"input": "x", "expected_input": "lengths"}),
        ("by-a-count", T, 11 * T,
         {"factor": "11", "how": "large", "size": "the length of axis 0 of `x`"}),
        ("by-a-count", T, T / 4, {"how": "small", "size": "the number of devices"}),
        ("by-a-count", 2.5, 2.5 * 7, {"what": "The answer", "size": "the length of axis 0 of `v`"}),
        ("by-a-count", P - 0.1 * X, P - 0.7 * X,
         {"what": "The change of `p['w']`", "factor": "7"}),
        ("by-a-count", VELOCITY, 0.9 * M + 7 * G,
         {"what": "What is added to 0.9 times `m`", "factor": "7"}),
        ("by-all-entries", V.mean(), V.mean() * 4 / 7,
         {"input": "mask", "count": "7", "expected_count": "4"}),
        ("by-all-entries", P - X, P - X * 4 / 7, {"what": "The change of `p['w']`"}),
        ("by-a-number", T, T * 0.31, {"name": "`rate`", "how": "multiplied"}),
        ("by-a-number", VELOCITY, 0.9 * M + 0.1 * G, {"name": "the number 0.1"}),
        ("by-a-degree-of-freedom", T, T * (6 / 7) ** 0.5, {"count": "7", "fewer": "6"}),
        ("by-a-divisor", 2.5, 2.5 * 7 / 12, {"number": "12", "count": "7"}),
        ("uphill", P - 0.1 * X, P + 0.1 * X, {"input": "p['w']"}),
        ("function-too-many", X, np.maximum(X, 0), {"function": "relu"}),
        ("function-too-many", X, np.tanh(X), {"function": "tanh"}),
        ("set-for-add", ADDED, np.where(np.arange(7) == 2, V[2], ADDED), {"input": "at"}),
        ("wrong-where", V, np.where(MASK > 0, V, V * 2), {"input": "mask", "value": "is false"}),
        ("wrong-where", X[:, :3], np.where(Y != 0, Y, 7.0),
         {"input": "lengths", "value": "ends before them"}),
        ("wrong-where", P + 5, np.where(np.abs(P) > 0.31, 2 * P, P + 5),
         {"input": "p['w']", "value": "is greater in size than `rate`"}),
    ],
)  # fmt: skip
def test_a_cause_is_found(name: str, expected: Any, actual: Any, fields: Fields):
    inputs: dict[str, Tree] = {
        "x": leaf(RANDOM.normal(size=(11, 2))),
        "p": {"w": leaf(P)},
        "m": leaf(M),
        "v": leaf(V),
        "mask": leaf(MASK),
        "lengths": Leaf(LENGTHS, "jax.Array"),
        "at": Leaf(AT, "jax.Array"),
        "rate": leaf(0.31),
    }
    code = "    p.at[0].set(1)\n    v = 0.9 * m + 0.1 * g\n    return x.mean() + sum(x) / 12\n"
    found = causes(leaf(expected), leaf(actual), inputs, 4, code)
    assert name in found, found
    assert found[name].items() >= fields.items()


@pytest.mark.parametrize(
    ("name", "expected", "actual", "fields"),
    [
        ("result-missing", [leaf(X), leaf(V), leaf(1)], (leaf(X), leaf(1)), {"number": "1"}),
        ("names-for-numbers", [leaf(1), leaf(2)], ["w", leaf(2)], {"name": "w", "input": "p"}),
        ("by-a-count", {"a": leaf(V), "b": leaf(X)}, {"a": leaf(3 * V), "b": leaf(3 * X)},
         {"what": "Each of `['a']` and `['b']`"}),
        ("by-a-count", {"a": leaf(V), "b": leaf(X)}, {"a": leaf(3 * V), "b": leaf(2 * X)},
         {"what": "`['a']`"}),
        ("old-for-new", [{"w": leaf(P - 0.1 * VELOCITY)}, {"w": leaf(VELOCITY)}],
         [{"w": leaf(P - 0.1 * M)}, {"w": leaf(VELOCITY)}],
         {"input": "v['w']", "ratio": "0.1", "where": "`[0]['w']`"}),
    ],
)  # fmt: skip
def test_a_cause_in_a_tree_is_found(name: str, expected: Tree, actual: Tree, fields: Fields):
    inputs: dict[str, Tree] = {"p": {"w": leaf(P)}, "v": {"w": leaf(M)}, "n": leaf(3)}
    found = causes(expected, actual, inputs)
    assert name in found, found
    assert found[name].items() >= fields.items()


@pytest.mark.parametrize(
    ("name", "expected", "actual"),
    [
        ("by-a-divisor", 2.5, 2.5 * 7 / 12),
        ("update-not-assigned", X * 2, P),
        ("by-a-number", VELOCITY, 0.9 * M + 0.1 * G),
    ],
)
def test_what_the_code_does_not_contain_is_not_named(name: str, expected: Any, actual: Any):
    inputs: dict[str, Tree] = {"p": leaf(P), "m": leaf(M)}
    code = "return x.sum() / 11"
    assert name not in causes(leaf(expected), leaf(actual), inputs, source=code)


@pytest.mark.parametrize(
    ("names", "expected", "actual"),
    [
        ({"axis-at-the-front", "first-axes-swapped"}, BOX, BOX.swapaxes(1, 2)),
        ({"reshaped"}, V, V[::-1]),
        # Near saturation, each step is as good as the one before.
        ({"shifted"}, 1 + 1e-7 * V, np.append(1 + 1e-7 * V[1:], 0)),
        ({"steps-missing"}, 1 + 1e-7 * V, 1 + 1e-7 * V[1:]),
    ],
)
def test_what_does_not_make_these_numbers_is_not_claimed(
    names: set[str], expected: Any, actual: Any
):
    inputs: dict[str, Tree] = {"x": leaf(T)}
    assert not names & causes(leaf(expected), leaf(actual), inputs, source="vmap(f)").keys()


def test_counts_are_named_as_the_learner_knows_them():
    inputs: dict[str, Tree] = {"x": leaf(RANDOM.normal(size=(11, 2))), "k": leaf(9)}
    for factor, name in (
        (11, "the length of axis 0 of `x`"),
        (9, "`k`"),
        (4, "the number of devices"),
    ):
        assert causes(leaf(T), leaf(factor * T), inputs, 4)["by-a-count"]["size"] == name


def test_a_branch_taken_for_an_input_is_no_activation_too_many():
    assert not causes(leaf(X), leaf(np.tanh(X)), {"x": leaf(X)})


# --- formulas --------------------------------------------------------------------------------


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def lstm(p: dict[str, Any], x: Any, h: Any, c: Any, order: str = "ifgo", bias: Any = 1) -> Tree:
    gates = x @ p["weight_ih"].T + h @ p["weight_hh"].T + p["bias_ih"] + bias * p["bias_hh"]
    of = dict(zip(order, np.split(gates, 4, -1), strict=True))
    c = sigmoid(of["f"]) * c + sigmoid(of["i"]) * np.tanh(of["g"])
    return [leaf(sigmoid(of["o"]) * np.tanh(c)), leaf(c)]


def test_the_order_and_the_biases_of_a_cell_are_named():
    random = np.random.default_rng(7)
    x, h, c = random.normal(size=(3, 5)), random.normal(size=(3, 2)), random.normal(size=(3, 2))
    shapes = {"weight_ih": (8, 5), "weight_hh": (8, 2), "bias_ih": (8,), "bias_hh": (8,)}
    p = {name: random.normal(size=shape) for name, shape in shapes.items()}
    trees: dict[str, Tree] = {"x": leaf(x), "h": leaf(h), "c": leaf(c)}
    trees["p"] = {name: leaf(array) for name, array in p.items()}
    right = lstm(p, x, h, c)
    order = causes(right, lstm(p, x, h, c, "ifog"), trees)["another-cell"]
    bias = causes(right, lstm(p, x, h, c, bias=0), trees)["another-cell"]
    assert order["formula"] == "the gates in the order i, f, o, g"
    assert bias["formula"] == "only the bias of the input"


def series(
    x: Any, state: float, new: float, first: Any, mask: Any = None, late: bool = False
) -> Any:
    y = [first]
    for t in range(1, len(x)):
        kept = y[-1] if mask is None else np.where(mask[t - late], 0.0, y[-1])
        y.append(state * kept + new * x[t])
    return np.stack(y)


STREAM = np.random.default_rng(8).normal(size=(12, 4))
DONE = np.random.default_rng(9).random((12, 4)) < 0.3


@pytest.mark.parametrize(
    ("name", "actual", "fields"),
    [
        ("other-recurrence", series(STREAM, 0.3, 0.7, STREAM[0]),
         {"formula": "y[t] = (1 - a) * y[t-1] + a * x[t]",
          "expected_formula": "y[t] = a * y[t-1] + (1 - a) * x[t]"}),
        ("other-start", series(STREAM, 0.7, 0.3, 0.3 * STREAM[0]),
         {"start": "(1 - a) * x[0]", "expected_start": "x[0]"}),
    ],
)  # fmt: skip
def test_what_a_series_follows_is_named(name: str, actual: Any, fields: Fields):
    expected = leaf(series(STREAM, 0.7, 0.3, STREAM[0]))
    inputs: dict[str, Tree] = {"x": leaf(STREAM), "a": leaf(0.7)}
    found = causes(expected, leaf(actual), inputs)
    assert found[name].items() >= fields.items()
    other = causes(expected, leaf(actual + 0.1 * np.sin(5 * STREAM)), inputs)
    assert not {"other-recurrence", "other-start"} & other.keys()


def test_a_reset_at_the_wrong_step_is_named():
    late, now = (leaf(series(STREAM, 1.0, 1.0, STREAM[0], DONE, late)) for late in (True, False))
    found = causes(late, now, {"x": leaf(STREAM), "done": leaf(DONE)})["other-recurrence"]
    assert found["formula"] == "y[t] = y[t-1] - done[t] * y[t-1] + x[t]"
    assert "done[t-1] * y[t-1]" in found["expected_formula"]


# --- arrays of any kind ----------------------------------------------------------------------


def test_the_order_of_few_distinct_numbers_is_not_evidence():
    assert not causes(leaf([[0, 1], [1, 1]]), leaf([[1, 1], [0, 1]]))


@pytest.mark.parametrize("kind", ["bool", "int32", "complex64", "bfloat16", "float16"])
def test_any_dtype_is_accepted(kind: str):
    import ml_dtypes

    dtype = np.dtype(ml_dtypes.bfloat16 if kind == "bfloat16" else kind)
    numbers = RANDOM.integers(0, 2, size=(4, 3)).astype(dtype)
    other = (numbers == 0).astype(dtype)
    causes(Leaf(numbers, "torch.Tensor"), Leaf(other, "jax.Array"), {"x": leaf(X)}, 4)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 1e38, 1e-38])
def test_extreme_numbers_give_no_warning_and_no_false_cause(value: float):
    odd = np.full((3, 4), value, np.float32)
    numbers = RANDOM.normal(size=(3, 4))
    for one, two in ((numbers, odd), (odd, numbers)):
        found = causes(leaf(one), leaf(two), {"x": leaf(numbers * 3)}, 4, CODE)
        assert not found.keys() - {"nan", "zero"}, found


def test_empty_and_large_arrays_are_skipped():
    assert not causes(leaf(np.zeros((0, 3))), leaf(np.zeros((3, 0))))
    large = leaf(np.zeros(1 << 20))
    mismatch = compare(large, leaf(np.ones(1 << 20)))
    assert mismatch is not None
    assert comparison(mismatch, large, leaf(np.ones(1 << 20)), None, {}, 1) is None
