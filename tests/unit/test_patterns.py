"""How wrong numbers are made from the right ones, in a line."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.cases import for_each
from tutor.checks.compare import compare
from tutor.tree import Leaf

X = np.random.default_rng(0).normal(size=(4, 3)) + 0.1
SQUARE = np.random.default_rng(1).normal(size=(3, 3))
CUBE = np.random.default_rng(2).normal(size=(2, 3, 3))
WHOLE = np.arange(12).reshape(4, 3) ** 2


def pattern(expected: Any, actual: Any) -> str:
    found = compare(Leaf(np.asarray(expected), "torch.Tensor"), Leaf(np.asarray(actual), "x"))
    return found.pattern if found is not None else "equal"


def with_row(row: int, values: Any) -> Any:
    changed = X.copy()
    changed[row] = values
    return changed


@for_each(
    ("expected", "actual", "said"),
    [
        (X, X * 0.25, "every number is 0.25 times the expected one"),
        (X, -X, "every sign is wrong"),
        (X, X + 2, "every number is too large by 2"),
        (X, X - 0.5, "every number is too small by 0.5"),
        (X, np.zeros((4, 3)), "every number is 0"),
        (X, np.full((4, 3), 7.0), "every number is 7"),
        (SQUARE, SQUARE.T, "it is the transpose of the expected matrix"),
        (CUBE, CUBE.swapaxes(1, 2), "the axes 1 and 2 are swapped"),
        (X, X[::-1], "the order along axis 0 is reversed"),
        (X, np.roll(X, 1, 1), "every number is shifted forward by one along axis 1"),
        (X, np.broadcast_to(X[2], X.shape), "every row is the expected row 2"),
        (X, np.broadcast_to(X[:, :1], X.shape), "every column is the expected column 0"),
        (X, np.broadcast_to([1.0, 2, 3], X.shape), "every row is the same"),
        (CUBE, CUBE[[1, 1]], "every row is the expected row 1"),
        (X, with_row(2, [9.0, 8, 7]), "only row 2 of 4 differs"),
        (X, X * np.array([1, 1, 1.5]), "only column 2 of 3 differs"),
        (WHOLE, WHOLE * 3, "every number is 3 times the expected one"),
        (WHOLE, WHOLE + 1, "every number is too large by 1"),
        (WHOLE * 2**30, WHOLE * 2**30 + 1, "every number is too large by 1"),
        (WHOLE * 2**30, WHOLE * 2**30 + np.arange(12).reshape(4, 3), ""),
        (X, np.random.default_rng(3).normal(size=(4, 3)), ""),
        (np.ones((4, 3)), np.random.default_rng(3).normal(size=(4, 3)), ""),
        (np.broadcast_to(X[0], X.shape), np.broadcast_to(X[1] * [1, 2, 3], X.shape), ""),
        (X > 0, ~(X > 0), ""),
        (X, X * np.nan, ""),
        (X + 1j, X - 1j, ""),
    ],
)
def test_a_pattern_is_said(expected: Any, actual: Any, said: str) -> None:
    assert pattern(expected, actual) == said


@given(
    hnp.arrays(np.float64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.floats(-9, 9)),
    st.data(),
)
def test_no_numbers_break_it(expected: Any, data: st.DataObject) -> None:
    numbers = hnp.arrays(np.float64, expected.shape, elements=st.floats(-9, 9) | st.just(np.inf))
    assert "\n" not in pattern(expected, data.draw(numbers))
