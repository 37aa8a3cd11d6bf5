"""Causes that compare formulas, recurrences and steps are found where they hold, and only there."""

from typing import Any

import numpy as np
import pytest

from tests.explain.test_causes import V, X, causes, leaf
from tutor.checks.compare import compare
from tutor.explain.causes import causes_of
from tutor.explain.causes.comparison import Fields, comparison
from tutor.tree import Tree

pytestmark = pytest.mark.usefixtures("home")


# --- formulas and recurrences ----------------------------------------------------------------

Q, K, W = (np.random.default_rng(seed).normal(size=size) for seed, size in
           ((1, (5, 4)), (2, (6, 4)), (3, (6, 3))))  # fmt: skip


def softmax(scores: Any, axis: int = -1) -> Any:
    powers = np.exp(scores - scores.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def layer_norm(x: Any, axis: int = -1, epsilon: float = 1e-5) -> Any:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


QKV, ATTENDED = {"q": Q, "k": K, "v": W}, softmax(Q @ K.T / 2) @ W
SCORES, LABELS = np.random.default_rng(4).normal(size=(6, 3)), np.array([0, 2, 1, 1, 0, 2.0])
LOG_P = np.log(softmax(SCORES))
ROWS = np.arange(6), LABELS.astype(int)
LATE = np.arange(6), np.roll(ROWS[1], 1)
IMAGE = np.random.default_rng(5).normal(size=(2, 4, 6, 3))
WINDOWS = IMAGE.reshape(2, 2, 2, 3, 2, 3)


FORMULAS = {
    f"another-{what}" for what in ("attention", "normalisation", "pooling", "loss", "network")
}


@pytest.mark.parametrize(
    ("name", "inputs", "expected", "actual", "fields"),
    [
        ("attention", QKV, ATTENDED, softmax(Q @ K.T / 2, 0) @ W,
         {"formula": "a softmax over the queries",
          "expected_formula": "a softmax over the keys"}),
        ("attention", QKV, ATTENDED, softmax(Q @ K.T) @ W,
         {"formula": "scores that are not scaled"}),
        ("attention", QKV, ATTENDED, softmax(Q @ K.T / 6**0.5) @ W,
         {"formula": "scores divided by the root of the number of keys"}),
        ("normalisation", {"x": SCORES}, layer_norm(SCORES), layer_norm(SCORES, 0),
         {"formula": "statistics over the batch, axis 0",
          "expected_formula": "statistics over the last axis"}),
        ("loss", {"x": SCORES, "y": LABELS}, -LOG_P[ROWS].mean(), -LOG_P[ROWS].sum(),
         {"formula": "the sum over rows", "expected_formula": "the mean over rows"}),
        ("loss", {"x": SCORES, "y": LABELS}, -LOG_P[ROWS].mean(), -LOG_P[LATE].mean(),
         {"formula": "the label of the row before"}),
        ("loss", {"x": SCORES, "y": LABELS}, -LOG_P[ROWS].mean(),
         -np.log(softmax(softmax(SCORES)))[ROWS].mean(),
         {"formula": "the log-softmax of a softmax"}),
        ("loss", {"p": SCORES, "y": SCORES**3}, ((SCORES - SCORES**3) ** 2).mean(),
         ((SCORES - SCORES**3) ** 2).mean() / 2, {"formula": "half the mean of squares"}),
        ("pooling", {"x": IMAGE}, WINDOWS.max((2, 4)), WINDOWS.mean((2, 4)),
         {"formula": "the mean of each window", "expected_formula": "the max of each window"}),
    ],
)  # fmt: skip
def test_a_variant_of_a_formula_is_named(
    name: str, inputs: dict[str, Any], expected: Any, actual: Any, fields: Fields
):
    trees: dict[str, Tree] = {name: leaf(array) for name, array in inputs.items()}
    found = causes(leaf(expected), leaf(actual), trees)[f"another-{name}"]
    assert found.items() >= fields.items()
    assert not FORMULAS & causes(leaf(expected), leaf(np.asarray(actual) * 1.3 + 0.2), trees).keys()


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
    assert order["formula"] == "the gates in the order i, f, o, g"
    bias = causes(right, lstm(p, x, h, c, bias=0), trees)["another-cell"]
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
        ("other-recurrence", series(STREAM, 0.7, 1.0, STREAM[0]),
         {"formula": "y[t] = a * y[t-1] + x[t]"}),
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
    first = STREAM[0]
    expected, actual = (
        series(STREAM, 1.0, 1.0, first, DONE, late) for late in (True, False)
    )  # fmt: skip
    found = causes(leaf(expected), leaf(actual), {"x": leaf(STREAM), "done": leaf(DONE)})
    assert found["other-recurrence"]["formula"] == "y[t] = y[t-1] - done[t] * y[t-1] + x[t]"
    assert "done[t-1] * y[t-1]" in found["other-recurrence"]["expected_formula"]


# --- steps -----------------------------------------------------------------------------------

G, M = np.random.default_rng(10).normal(size=(2, 5, 4))
PARAMS = np.random.default_rng(11).normal(size=(5, 4))
NEW = 0.9 * M + G
STEP_INPUTS: dict[str, Tree] = {
    "p": {"w": leaf(PARAMS)}, "v": {"w": leaf(M)}, "lr": leaf(0.1), "decay": leaf(0.25),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected", "actual", "fields"),
    [
        ("old-for-new", (PARAMS - 0.1 * NEW, NEW), (PARAMS - 0.1 * M, NEW),
         {"input": "v['w']", "ratio": "0.1"}),
        ("part-scaled", (PARAMS, NEW), (PARAMS, 0.9 * M + 0.1 * G),
         {"input": "v['w']", "kept": "0.9", "ratio": "0.1"}),
        ("multiple-of-an-input", (PARAMS - 0.1 * G, M), (PARAMS * 0.975 - 0.1 * G, M),
         {"input": "p['w']", "ratio": "0.025", "name": " (`lr` times `decay`)", "how": "less"}),
        ("frozen-shrunk", (PARAMS, M + G), (PARAMS * 0.975, M + G),
         {"input": "p['w']", "ratio": "0.975"}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_step_is_named(name: str, expected: Any, actual: Any, fields: Fields):
    one, other = ([{"w": leaf(a)} for a in both] for both in (expected, actual))
    mismatch = compare(one, other)
    assert mismatch is not None
    found = comparison(mismatch, one, other, None, STEP_INPUTS, {}, 1, (), "v = 0.9 * v + g")
    assert found is not None
    named = causes_of(found)
    others = {"old-for-new", "part-scaled", "multiple-of-an-input", "frozen-shrunk"} - {name}
    assert named[name].items() >= fields.items()
    assert not others & named.keys()


def test_a_step_of_a_mean_over_the_wrong_entries_is_named():
    mask = np.array([1, 0, 0, 1, 0, 0.0])
    inputs: dict[str, Tree] = {"p": leaf(PARAMS), "mask": leaf(mask)}
    found = causes(leaf(PARAMS - 0.3 * G), leaf(PARAMS - 0.1 * G), inputs)
    assert found["step-by-another-count"]["expected_count"] == "2"


@pytest.mark.parametrize(
    ("actual", "value"),
    [
        (np.where(X < 0, 2 * X, X + 5), "is negative"),
        (np.where(np.abs(X) > 0.5, 2 * X, X + 5), "is greater in size than `limit`"),
        (np.where(X > 0.5, 2 * X, X + 5), "is greater than `limit`"),
    ],
)
def test_a_threshold_that_tells_right_from_wrong_is_named(actual: Any, value: str):
    found = causes(leaf(X + 5), leaf(actual), {"x": leaf(X), "limit": leaf(0.5)})
    assert found["wrong-where"]["value"] == value


LOOP = """
def train(tx, params, batches):
    {outside}
    for batch in batches:
        {inside}
        updates, state = tx.update(grad(params, batch), state, params)
        params = optax.apply_updates(params, updates)
    return params
"""

GIVEN = "def step(p, state, g):\n{}    return tx.update(g, state, p)\n"

STEP = """
def step(params, x):
    loss, grads = jax.value_and_grad(loss_fn)(params, x)
    {before}
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    {after}
    return params, loss
"""


@pytest.mark.parametrize(
    ("name", "source", "holds"),
    [
        ("state-made-anew", LOOP.format(outside="", inside="state = tx.init(params)"), True),
        ("state-made-anew", LOOP.format(outside="state = tx.init(params)", inside=""), False),
        ("state-made-anew", GIVEN.format("    state = tx.init(p)\n"), True),
        ("state-made-anew", GIVEN.format(""), False),
        ("state-made-anew", "def start(p):\n    state = tx.init(p)\n    return p, state\n", False),
        ("loss-after-the-step", STEP.format(before="", after="loss = loss_fn(params, x)"), True),
        ("loss-after-the-step", STEP.format(before="loss = loss_fn(params, x)", after=""), False),
        ("one-step-too-many", "lax.while_loop(lambda s: s[0] <= length, f, s)", True),
        ("one-step-too-many", "t = s[0]\nwhile t <= length:\n    t += 1", True),
        ("one-step-too-many", "t = s[0]\nwhile t < length:\n    t += 1", False),
        ("nearest-branch", "lax.switch(i, fs, x)", False),
    ],
)  # fmt: skip
def test_the_order_of_lines_is_read(name: str, source: str, holds: bool):
    expected: Tree = [leaf(PARAMS), leaf(2.5)]
    actual: Tree = [leaf(PARAMS), leaf(2.1)]
    mismatch = compare(expected, actual)
    assert mismatch is not None
    found = comparison(mismatch, expected, actual, None, {"x": leaf(V)}, {}, 1, (), source)
    assert found is not None
    assert (name in causes_of(found)) == holds


def test_the_nearest_branch_is_named():
    expected, actual = [leaf(np.sin(V)), leaf(V)], [leaf(np.sin(V)), leaf(np.cos(V))]
    mismatch = compare(expected, actual)
    assert mismatch is not None
    found = comparison(
        mismatch, expected, actual, None, {"x": leaf(V)}, {}, 1, (), "lax.switch(i, fs, x)"
    )
    assert found is not None
    assert "function-too-many" not in causes_of(found)
    assert causes_of(found)["nearest-branch"] == {
        "input": "x",
        "where": "`[1]` (the rest of the answer is right)",
    }


def test_a_square_matrix_that_is_itself_wrong_says_nothing_about_its_axes():
    inputs: dict[str, Tree] = {"w": leaf(X), "b": leaf(V)}
    step = causes([leaf(X + 1), leaf(V + 2)], [leaf(np.sin(9 * X)), leaf(np.sin(9 * V))], inputs)
    forward = causes(leaf(V), leaf(np.sin(9 * V)), inputs)
    assert "square-input" not in step
    assert "square-input" in forward
