"""Causes of wrong numbers need evidence: what fits by chance is not claimed."""

from typing import Any

import numpy as np
import pytest

from tests.explain.test_causes import leaf
from tutor.checks.compare import compare
from tutor.explain.causes import causes_of
from tutor.explain.causes.comparison import comparison
from tutor.tree import Leaf, Tree

pytestmark = pytest.mark.usefixtures("home")

RANDOM = np.random.default_rng(0)
X, W, B = (RANDOM.normal(size=size) for size in ((6, 4), (4, 4), (4,)))


def found(
    expected: Tree,
    actual: Tree,
    *,
    source: str = "",
    torch: str = "",
    inputs: dict[str, Tree] | None = None,
    earlier: tuple[Tree, ...] = (),
) -> set[str]:
    """Return the names of the causes."""
    mismatch = compare(expected, actual)
    assert mismatch is not None
    one = comparison(
        mismatch, expected, actual, None, inputs or {}, {"n": 6}, 1, earlier, source, torch
    )
    assert one is not None
    return {*causes_of(one)}


def tree(value: Any) -> Tree:
    if isinstance(value, dict):
        return {key: tree(child) for key, child in value.items()}
    return leaf(value)


DROPPED = "def f(x):\n    x.at[0].set(1.0)\n    return x\n"


@pytest.mark.parametrize(
    ("source", "claimed"),
    [
        (DROPPED, True),
        ("def f(x):\n    y = x.at[0].set(1.0)\n    return x\n", False),
        ("def f(x):\n    return (\n        x.at[0].set(1.0))\n", False),
        ("def f(x):\n    y = 1 + \\\n        x.at[0].get()\n    return x\n", False),
        ('def f(x):\n    """Like\n    x.at[0].set(1.0)\n    """\n    return x\n', False),
        ("def f(x):\n    # nothing (\n    x.at[0].set(1.0)\n    return x\n", True),
    ],
)
def test_an_update_that_is_dropped_is_seen_in_the_code(source: str, claimed: bool):
    after = X.copy()
    after[0] = 1
    causes = found(leaf(after), leaf(X), source=source, inputs={"x": leaf(X)})
    assert ("update-not-assigned" in causes) == claimed


def test_small_integers_are_no_evidence_of_an_earlier_answer():
    counts = np.array([1, 0, 2, 1])
    assert "as-before" not in found(leaf(counts + 1), leaf(counts), earlier=(leaf(counts),))
    assert "as-before" in found(leaf(X + 1), leaf(X), earlier=(leaf(X),))


def test_what_lacks_its_decay_did_not_come_back_unchanged():
    inputs = {"params": {"w": leaf(W), "b": leaf(B)}}
    expected = tree({"w": W * 0.99, "b": B - 0.3 * B**2})
    off = tree({"w": W, "b": B + 0.3 * B**2})
    assert "an-input" not in found(expected, off, inputs=inputs)
    back = tree({"w": W, "b": B})
    moved = tree({"w": W + 0.3 * W**2, "b": B - 0.3 * B**2})
    assert "an-input" in found(moved, back, inputs=inputs)


def test_rows_that_are_alike_do_not_show_a_factor_for_each_column():
    row, factors = np.arange(1.0, 5), np.array([2, 3, 0.5, 1.5])
    assert "factor-per-column" not in found(leaf(np.tile(row, (6, 1))), leaf(row * factors + 0 * X))
    assert "factor-per-column" in found(leaf(X), leaf(X * factors))


def test_a_place_that_is_nan_is_no_run_of_positions():
    actual = X[:, 0].copy()
    actual[2:4] = np.nan
    assert "wrong-in-the-middle" not in found(leaf(X[:, 0]), leaf(actual))
    actual[2:4] = 9
    assert "wrong-in-the-middle" in found(leaf(X[:, 0]), leaf(actual))


ONCE = "def net(x):\n    h = relu(x)\n    return relu(h) + 1\n"
HELPER = "def layer(x):\n    return relu(x)\n\ndef net(x):\n    return layer(layer(layer(x)))\n"
TORCH = "def net(x):\n    return torch.relu(torch.relu(torch.relu(x)))\n"


@pytest.mark.parametrize(("source", "claimed"), [(ONCE, True), (HELPER, False)])
def test_calls_through_a_helper_are_not_counted(source: str, claimed: bool):
    causes = found(leaf(X), leaf(X + W.sum()), source=source, torch=TORCH)
    assert ("another-number-of-calls" in causes) == claimed


def test_a_hostile_code_is_counted_in_a_moment():
    source = "def a(x):\n    return relu(x)\n" * 20_000
    assert "another-number-of-calls" not in found(leaf(X), leaf(X + 1), source=source, torch=TORCH)


def test_of_zeros_no_factor_is_claimed():
    zeros = Leaf(np.zeros((6, 4), np.float32), "jax.Array")
    for expected, actual in ((zeros, leaf(X)), (leaf(X), zeros)):
        assert not {"factor-per-row", "factor-per-column", "times-a-count"} & found(
            expected, actual
        )
