"""Generated data sets: under every seed they can be learned, and as well as is promised."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_each
from tutor.inputs.drawing import DrawError
from tutor.inputs.draws import draw_tree, parse
from tutor.tree import Leaf, entry

SEEDS = range(5)


def drawn(text: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    found = draw_tree(parse(text), {}, (seed,))
    x, y = entry(found, "x"), entry(found, "y")
    assert isinstance(x, Leaf) and isinstance(y, Leaf)
    return x.values.astype(np.float64), y.values


def linear_accuracy(x: np.ndarray, y: np.ndarray) -> float:
    """The accuracy of the best linear scores by least squares."""
    wide = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    w, *_ = np.linalg.lstsq(wide, np.eye(int(y.max()) + 1)[y], rcond=None)
    return float(((wide @ w).argmax(axis=1) == y).mean())


def neighbour_accuracy(x: np.ndarray, y: np.ndarray) -> float:
    distances = ((x[:, None] - x) ** 2).sum(-1)
    np.fill_diagonal(distances, np.inf)
    return float((y[distances.argmin(axis=1)] == y).mean())


@for_each("seed", SEEDS)
@for_each(("d", "classes"), [(1, 2), (2, 2), (2, 3), (3, 6), (10, 4)])
def test_blobs_are_classes_that_nearly_separate(d: int, classes: int, seed: int):
    x, y = drawn(f"blobs(600, {d}, classes={classes})", seed)
    assert np.bincount(y).tolist() == [600 // classes] * classes
    centres = np.stack([x[y == one].mean(axis=0) for one in range(classes)])
    apart = np.sqrt(((centres[:, None] - centres) ** 2).sum(-1))[~np.eye(classes, dtype=bool)]
    assert apart.min() == pytest.approx(5, abs=0.5)
    nearest = ((x[:, None] - centres) ** 2).sum(-1).argmin(axis=1)
    assert (nearest == y).mean() > 0.96
    if classes < 4:
        assert linear_accuracy(x, y) > 0.9


@for_each("seed", SEEDS)
def test_moons_need_a_curve(seed: int):
    x, y = drawn("moons(400)", seed)
    assert np.bincount(y).tolist() == [200, 200]
    assert linear_accuracy(x, y) < 0.93
    assert neighbour_accuracy(x, y) > 0.97


@for_each("seed", SEEDS)
def test_a_plane_is_linear_up_to_its_noise(seed: int):
    x, y = drawn("plane(500, 4, noise=0.1)", seed)
    wide = np.concatenate([x, np.ones((500, 1))], axis=1)
    w, *_ = np.linalg.lstsq(wide, y, rcond=None)
    assert np.linalg.norm(w[:4]) == pytest.approx(1, abs=0.05)
    assert (wide @ w - y).std() == pytest.approx(0.1, abs=0.015)


@for_each(
    ("text", "said"),
    [
        ("blobs(9, 0)", "blobs needs at least one dimension"),
        ("blobs(9, 2, classes=1)", "classes must be an integer from 2 to 1000, got 1"),
        ("blobs(9, 2, classes=2.5)", "classes must be an integer"),
        ("blobs(9, 1000)", "1,000 dimensions; at most 512 may be drawn"),
        ("blobs(9, 2, spread=-1)", "spread must be from 0 to 1e6, got -1"),
        ("moons(9, noise=-1)", "noise must be from 0 to 1e6, got -1"),
        ("plane(99999, 99)", "9,899,901 elements; at most 4,000,000"),
    ],
)
def test_what_cannot_be_drawn_is_refused(text: str, said: str):
    with pytest.raises(DrawError, match=said):
        drawn(text, 0)


@given(
    n=st.integers(0, 30), d=st.integers(1, 5), classes=st.integers(2, 9), seed=st.integers(0, 99)
)
def test_any_size_can_be_drawn(n: int, d: int, classes: int, seed: int):
    for text in (f"blobs({n}, {d}, classes={classes})", f"moons({n})", f"plane({n}, {d})"):
        x, y = drawn(text, seed)
        assert len(x) == len(y) == n
        assert np.isfinite(x).all() and np.isfinite(y).all()
