"""Inputs with a structure have it, whatever their shape and seed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.inputs.draws import draw_tree, parse
from tutor.inputs.structured import CYCLES
from tutor.tree import Leaf

SEEDS = st.integers(0, 10**6)
LENGTHS = st.integers(1, 7)
SHAPES = st.lists(st.integers(1, 4), max_size=2)


def drawn(text: str, seed: int, *, first: bool = True) -> Any:
    """The values of a draw; for a mapping, of each of its arrays."""
    tree = draw_tree(parse(text), {}, (seed,), first=first)
    if isinstance(tree, dict):
        return {name: leaf.values for name, leaf in tree.items() if isinstance(leaf, Leaf)}
    assert isinstance(tree, Leaf)
    return tree.values


def call(name: str, *arguments: float, **options: Any) -> str:
    named = (f"{key}={value!r}" for key, value in options.items())
    return f"{name}({', '.join([*map(str, arguments), *named])})"


@given(SHAPES, LENGTHS, SEEDS, st.sampled_from(["float32", "float16", "bfloat16"]))
def test_sorted_numbers_ascend_within_their_bounds(
    shape: list[int], length: int, seed: int, dtype: str
) -> None:
    values = drawn(call("sorted", *shape, length, low=-2, high=3, dtype=dtype), seed)
    assert values.shape == (*shape, length)
    wide = values.astype(np.float64)
    assert (np.diff(wide, axis=-1) >= 0).all()
    assert wide.min() >= -2 and wide.max() <= 3


@given(SHAPES, LENGTHS, SEEDS, st.booleans())
def test_sorted_integers_ascend_and_reach_their_bounds_at_first(
    shape: list[int], length: int, seed: int, first: bool
) -> None:
    text = call("sorted", *shape, length, low=-1, high=4, dtype="int32")
    values = drawn(text, seed, first=first)
    assert (np.diff(values, axis=-1) >= 0).all()
    assert set(values.flat) <= ({-1, 0, 1, 2, 3} if first else {0, 1, 2})
    assert not first or values.size < 2 or {-1, 3} <= set(values.flat)


@given(SHAPES, LENGTHS, SEEDS, st.booleans())
def test_each_row_of_one_hot_vectors_has_a_single_one(
    shape: list[int], classes: int, seed: int, first: bool
) -> None:
    values = drawn(call("one_hot", *shape, classes), seed, first=first)
    assert values.shape == (*shape, classes)
    assert set(values.flat) <= {0.0, 1.0}
    assert (values.sum(axis=-1) == 1).all()
    labels = values.argmax(axis=-1)
    assert not first or labels.size < 2 or {0, classes - 1} <= set(labels.flat)


@given(SHAPES, LENGTHS, SEEDS, st.booleans(), st.sampled_from([0, 0.1, 0.5, 0.9, 1]))
def test_each_row_of_a_mask_has_a_true_and_at_first_a_false(
    shape: list[int], length: int, seed: int, first: bool, p: float
) -> None:
    values = drawn(call("mask", *shape, length, p=p), seed, first=first)
    assert (values.shape, values.dtype) == ((*shape, length), np.bool_)
    assert values.any(axis=-1).all()
    assert not first or length == 1 or not values.all(axis=-1).any()


def test_a_mask_is_true_as_often_as_asked() -> None:
    assert abs(drawn("mask(500, 40, p=0.2)", 1).mean() - 0.2) < 0.02


@given(st.integers(0, 9), LENGTHS, SEEDS, st.booleans())
def test_lengths_reach_one_and_the_longest_at_first(
    n: int, longest: int, seed: int, first: bool
) -> None:
    values = drawn(call("lengths", n, longest), seed, first=first)
    assert (values.shape, values.dtype) == ((n,), np.int32)
    assert all(1 <= value <= longest for value in values)
    if first and n > 1:
        assert {1, longest} <= set(values)
    if not first and longest > 2:
        assert not {1, longest} & set(values)


@given(SHAPES, LENGTHS, st.integers(2, 9), SEEDS, st.booleans())
def test_tokens_are_ids_followed_by_padding(
    shape: list[int], longest: int, vocabulary: int, seed: int, first: bool
) -> None:
    values = drawn(call("tokens", vocabulary, *shape, longest), seed, first=first)
    assert (values.shape, values.dtype) == ((*shape, longest), np.int32)
    assert values.min() >= 0 and values.max() < vocabulary
    present = (values > 0).reshape(-1, longest)
    assert present[:, 0].all()  # at least one token each
    assert (present[:, :-1] >= present[:, 1:]).all()  # nothing after padding
    assert present.all(axis=1).any()  # one row is full
    if first and len(present) > 1 and longest > 1:
        assert not present.all()  # some row is not
    if first and present.sum() > 1:
        assert {1, vocabulary - 1} <= set(values.flat)
    if not first and vocabulary > 4:
        assert not {1, vocabulary - 1} & set(values.flat)


@given(SHAPES, LENGTHS, SEEDS, st.sampled_from([1, 2, 10, 1000]), st.sampled_from([0.01, 1, 100]))
def test_spd_matrices_are_symmetric_and_well_conditioned(
    batch: list[int], n: int, seed: int, condition: float, scale: float
) -> None:
    matrices = drawn(call("spd", *batch, n, condition=condition, scale=scale), seed)
    assert matrices.shape == (*batch, n, n)
    assert (matrices == matrices.swapaxes(-1, -2)).all()
    eigenvalues = np.linalg.eigvalsh(matrices.astype(np.float64))
    assert (eigenvalues > 0).all()
    assert (eigenvalues.max(axis=-1) <= 1.0001 * condition * eigenvalues.min(axis=-1)).all()
    assert 0.999 * scale <= eigenvalues.min() and eigenvalues.max() <= 1.001 * scale * condition


def test_eigenvalues_of_spd_matrices_are_apart() -> None:
    """The gradient of `eigh` divides by their differences."""
    for seed in range(50):
        eigenvalues = np.linalg.eigvalsh(drawn("spd(6)", seed).astype(np.float64))
        assert np.diff(eigenvalues).min() > 0.5


@pytest.mark.parametrize("n", [40, 512])
def test_large_spd_matrices_are_positive_definite_in_float32(n: int) -> None:
    matrix = drawn(f"spd({n}, condition=10000)", 1)
    assert np.isfinite(np.linalg.cholesky(matrix)).all()


@given(SHAPES, LENGTHS, SEEDS)
def test_orthogonal_matrices_keep_lengths_and_angles(batch: list[int], n: int, seed: int) -> None:
    matrices = drawn(call("orthogonal", *batch, n), seed)
    assert (matrices.shape, matrices.dtype) == ((*batch, n, n), np.float32)
    assert np.abs(matrices @ matrices.swapaxes(-1, -2) - np.eye(n)).max() < 1e-5


def test_orthogonal_matrices_are_rotations_as_often_as_reflections() -> None:
    signs = np.linalg.det(drawn("orthogonal(2000, 2)", 1))
    assert abs((signs > 0).mean() - 0.5) < 0.05
    assert abs(drawn("orthogonal(2000, 1)", 1).mean()) < 0.1


@given(SHAPES, LENGTHS, LENGTHS, st.integers(1, 4), SEEDS)
def test_images_are_smooth_and_between_0_and_1(
    batch: list[int], height: int, width: int, channels: int, seed: int
) -> None:
    text = call("images", *batch, height, width, channels)
    values = drawn(text, seed)
    assert (values.shape, values.dtype) == ((*batch, height, width, channels), np.float32)
    assert values.min() >= 0 and values.max() <= 1
    for axis, length in ((-3, height), (-2, width)):
        steps = np.abs(np.diff(values, axis=axis))
        assert (steps <= np.pi * CYCLES / length + 1e-5).all()
    whole = drawn(f"{text[:-1]}, dtype='uint8')", seed)
    assert whole.dtype == np.uint8
    assert np.abs(whole - 255 * values).max() <= 0.5001


def test_images_differ_from_each_other_and_within() -> None:
    values = drawn("images(20, 16, 12, 3)", 1)
    assert values.min() < 0.1 and values.max() > 0.9
    assert (values.std(axis=(1, 2)) > 0.05).all()
    assert len({image.tobytes() for image in values}) == 20
    assert len({values[0, :, :, channel].tobytes() for channel in range(3)}) == 3


@given(st.integers(1, 6), st.data(), SEEDS, st.booleans())
def test_graphs_have_no_loops_and_no_duplicates(
    nodes: int, data: st.DataObject, seed: int, first: bool
) -> None:
    edges = data.draw(st.integers(0, nodes * (nodes - 1)))
    found = drawn(call("graph", nodes, edges), seed, first=first)
    senders, receivers = found["senders"], found["receivers"]
    assert senders.dtype == receivers.dtype == np.int32
    assert senders.shape == receivers.shape == (edges,)
    assert all(0 <= node < nodes for node in (*senders, *receivers))
    assert not (senders == receivers).any()
    assert len({*zip(senders, receivers, strict=True)}) == edges
    received = int((receivers == nodes - 1).sum())
    if first:
        assert received >= min(2, edges, nodes - 1)
    elif edges <= (nodes - 1) ** 2:
        assert received == 0


def test_every_edge_of_a_graph_occurs() -> None:
    seen = set()
    for seed in range(200):
        found = drawn("graph(4, 3)", seed, first=seed % 2 == 0)
        seen |= {*zip(found["senders"].tolist(), found["receivers"].tolist(), strict=True)}
    assert len(seen) == 12


def test_a_large_graph_is_drawn_at_once() -> None:
    found = drawn("graph(4000000, 100000)", 1)
    assert len({*zip(found["senders"].tolist(), found["receivers"].tolist(), strict=True)}) == 10**5
