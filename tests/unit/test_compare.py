"""Comparing answers: what is equal, which element differs, and the words for it."""

import math
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.cases import for_each
from tutor.check import DEFAULT_TOLERANCE
from tutor.checks.compare import ENTRIES, compare, number, shape_words, words
from tutor.report import Mismatch, Side
from tutor.tree import Leaf, Tree, brief, leaves

from .trees import SHAPES, arrays, dtype, trees


def leaf(value: Any, name: str = "float32", kind: str = "jax.Array") -> Leaf:
    return Leaf(np.asarray(value, dtype(name)), kind)


def mismatch(expected: Tree, actual: Tree, tolerance: float | None = None) -> Mismatch:
    found = compare(expected, actual, tolerance)
    assert found is not None
    return found


def said(expected: Tree, actual: Tree) -> str:
    return words(mismatch(expected, actual))


# --- equal --------------------------------------------------------------------------------------


@given(trees(opaque=False))
@example({"a": [], "b": (), "c": {}})
@example(leaf(np.zeros((0, 3))))
def test_a_tree_equals_itself(tree: Tree) -> None:
    assert compare(tree, tree) is None
    assert compare(tree, tree, 0.0) is None


def lists(tree: Tree) -> Tree:
    """Return the tree with lists for tuples."""
    if isinstance(tree, dict):
        return {key: lists(child) for key, child in reversed(tree.items())}
    if isinstance(tree, list | tuple):
        return [lists(child) for child in tree]
    return tree


@given(trees(opaque=False))
def test_lists_equal_tuples_and_key_order_does_not_matter(tree: Tree) -> None:
    assert compare(tree, lists(tree)) is None
    assert compare(lists(tree), tree) is None


@for_each("kind", ["float", "int", "bool", "numpy.ndarray", "torch.Tensor"])
def test_a_python_number_equals_a_0d_array(kind: str) -> None:
    assert compare(leaf(1.0, kind="torch.Tensor"), leaf(1, "int64", kind)) is None
    assert compare(leaf(1, "int64", kind), leaf(1.0)) is None
    assert mismatch(leaf([1.0]), leaf(1, "int64", kind)).kind == "shape"


@for_each("name", [*DEFAULT_TOLERANCE, "int8", "uint64", "bool"])
def test_dtypes_may_differ_where_the_numbers_agree(name: str) -> None:
    for other in (*DEFAULT_TOLERANCE, "int32", "uint8", "bool"):
        assert compare(leaf([0, 1, 1], name), leaf([0, 1, 1], other)) is None


@for_each("value", [math.nan, math.inf, -math.inf])
@for_each("name", ["float32", "float64", "float16", "bfloat16", "complex64"])
def test_expected_nan_and_infinity_pass(value: float, name: str) -> None:
    assert compare(leaf([1, value], name), leaf([1, value], name)) is None
    assert compare(leaf(value, name), leaf(value, "float32")) is None


def test_empty_arrays_of_one_shape_are_equal() -> None:
    assert compare(leaf(np.zeros((0, 3))), leaf(np.zeros((0, 3)), "int32")) is None
    assert mismatch(leaf(np.zeros((0, 3))), leaf(np.zeros((3, 0)))).kind == "shape"


# --- not equal ----------------------------------------------------------------------------------

VALUES = hnp.array_shapes(max_dims=3, max_side=5).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.floats(-1, 1))
)


@given(
    VALUES,
    st.sampled_from(sorted(DEFAULT_TOLERANCE)),
    st.integers(0, 10**6),
    st.sampled_from([1e-3, 1.0, 1e4]),
    st.sampled_from([-1, 1]),
)
def test_a_change_above_the_tolerance_is_found_at_its_element_and_one_below_is_not(
    values: Any, name: str, at: int, size: float, sign: int
) -> None:
    expected = (values * size).astype(dtype(name))
    wide = expected.astype(np.complex128)
    scale = max(1.0, float(np.abs(wide).max()))
    tolerance = DEFAULT_TOLERANCE[name]
    flat = at % values.size
    where = tuple(int(i) for i in np.unravel_index(flat, values.shape))

    def changed(by: float) -> Leaf:
        out = wide if name.startswith("complex") else wide.real
        out = out.copy()
        out.flat[flat] += sign * by * tolerance * scale
        return leaf(out.astype(dtype(name)), name)

    assert compare(leaf(expected, name), changed(0.3)) is None
    found = mismatch(leaf(expected, name), changed(3))
    assert (found.kind, found.where, found.first, found.wrong) == ("value", where, where, 1)
    assert found.total == values.size
    assert found.max_error is not None
    assert found.tolerance == pytest.approx(tolerance * scale)
    assert found.max_error == pytest.approx(3 * tolerance * scale, rel=0.5)


@given(arrays(names=("int8", "uint8", "int32", "uint32", "int64", "uint64")), st.integers(0, 99))
def test_integers_are_compared_exactly(array: Any, at: int) -> None:
    assume(array.size > 0)
    other = array.copy()
    flat = at % array.size
    index = np.unravel_index(flat, array.shape)
    other[index] ^= np.asarray(1, array.dtype)
    found = mismatch(Leaf(array, "torch.Tensor"), Leaf(other, "jax.Array"))
    assert (found.kind, found.where, found.wrong) == ("value", tuple(map(int, index)), 1)
    assert compare(Leaf(array, "torch.Tensor"), Leaf(other, "jax.Array"), 1.0) is not None


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("int64", 2**53 + 1, 2**53),
        ("int64", 2**63 - 1, 2**63 - 2),
        ("int64", -(2**63), -(2**63) + 1),
        ("uint64", 2**64 - 1, 2**64 - 2),
    ],
)
def test_integers_beyond_float_precision_are_distinguished(name: str, one: int, other: int) -> None:
    assert compare(leaf(one, name), leaf(one, name)) is None
    text = said(leaf(one, name, "int"), leaf(other, name, "int"))
    assert text == f"expected {one}, got {other}"


def test_integers_and_floats_are_compared_with_tolerance() -> None:
    for one, other in ((leaf(3, "int64"), leaf(3.00001)), (leaf(3.00001), leaf(3, "int64"))):
        assert compare(one, other) is None
    assert compare(leaf(3, "int64"), leaf(3.001)) is not None


def test_true_is_one_and_not_two() -> None:
    assert compare(leaf(True, "bool"), leaf(1, "int32")) is None
    assert compare(leaf(True, "bool"), leaf(2, "int32")) is not None


@given(VALUES, st.integers(0, 10**6), st.sampled_from(["float32", "bfloat16", "complex64"]))
def test_nan_where_none_is_expected_is_found_at_its_element(
    values: Any, at: int, name: str
) -> None:
    expected = values.astype(dtype(name))
    actual = expected.copy()
    actual.flat[at % values.size] = np.nan
    where = tuple(int(i) for i in np.unravel_index(at % values.size, values.shape))
    found = mismatch(leaf(expected, name), leaf(actual, name))
    assert (found.kind, found.where, found.max_error) == ("nan", where, None)
    assert words(found).startswith(f"NaN at {list(where)}: expected ")


def test_nan_is_reported_before_an_earlier_infinity() -> None:
    assert said(leaf([1, 2, 3]), leaf([math.inf, 2, math.nan])) == "NaN at [2]: expected 3"


def test_a_number_in_place_of_nan_fails() -> None:
    assert said(leaf([1, math.nan]), leaf([1, 5])) == (
        "largest difference infinite at [1]: expected nan, got 5 (1 of 2 elements differ)"
    )


@pytest.mark.parametrize(
    ("want", "got"), [(math.inf, 1e30), (1.0, math.inf), (math.inf, -math.inf)]
)
def test_infinity_in_the_wrong_position_fails(want: float, got: float) -> None:
    found = mismatch(leaf([0, want]), leaf([0, got]))
    assert (found.kind, found.where, found.max_error) == ("value", (1,), None)


def test_an_expected_infinity_does_not_widen_the_tolerance() -> None:
    assert compare(leaf([math.inf, 1]), leaf([math.inf, 1.001])) is not None


def test_complex_numbers_are_compared_in_the_plane() -> None:
    assert compare(leaf([1 + 1j], "complex64"), leaf([1 + 1.000005j], "complex64")) is None
    assert said(leaf([1 + 1j, 0], "complex64"), leaf([1 - 1j, 0], "complex64")) == (
        "largest difference 2 at [0]: expected 1+1j, got 1-1j (1 of 2 elements differ)"
    )
    assert said(leaf(2.0), leaf(2 + 1j, "complex64")) == "expected 2, got 2+1j"


def test_only_the_expected_dtype_sets_the_tolerance() -> None:
    assert compare(leaf([1.008], "bfloat16"), leaf([1.0])) is None
    for name in ("bfloat16", "float16"):
        assert compare(leaf([1.0]), leaf([1.008], name)) is not None
        assert compare(leaf([3]), leaf([3.02], name)) is not None
    assert compare(leaf([1.0]), leaf([1.008])) is not None
    assert compare(leaf([1.0]), leaf([1.03], "bfloat16")) is not None
    assert np.asarray([1.0], ml_dtypes.bfloat16).dtype.kind == "V"  # why this needs a test


def test_a_sum_that_cancels_is_measured_by_the_largest_element() -> None:
    assert compare(leaf([1000.0, 0.0]), leaf([1000.0, 0.005])) is None
    assert compare(leaf([1000.0, 0.0]), leaf([1000.0, 0.05])) is not None


# --- a few large elements -----------------------------------------------------------------------

MASKS = st.sampled_from([-1e9, 1e9, -1e10, -(2.0**32), -3.4e38, 1e7, np.inf, -np.inf])


@given(
    hnp.arrays(
        np.float32, hnp.array_shapes(max_dims=3, max_side=6), elements=st.floats(-2, 2, width=32)
    ),
    MASKS,
    st.data(),
)
def test_a_mask_does_not_hide_errors_elsewhere(
    values: Any, mask: float, data: st.DataObject
) -> None:
    """Whatever part is masked, errors in the rest are found and rounding is not."""
    assume(values.size >= 2)
    covered = data.draw(st.sets(st.integers(0, values.size - 1), max_size=values.size - 2))
    want = values.copy()
    want.flat[sorted(covered)] = mask
    at = data.draw(st.sampled_from([i for i in range(values.size) if i not in covered]))
    got = want.copy()
    got.flat[at] += 0.01
    assert mismatch(leaf(want), leaf(got)).where == tuple(map(int, np.unravel_index(at, got.shape)))
    assert (
        compare(leaf(want), leaf((want.astype(np.float64) * (1 + 1e-7)).astype(np.float32))) is None
    )


def test_missing_scores_are_found_behind_a_mask() -> None:
    scores = np.random.default_rng(0).normal(size=(6, 6))
    want = np.where(np.tri(6, dtype=bool), scores, -1e9)
    assert compare(leaf(want), leaf(np.where(np.tri(6, dtype=bool), 0, -1e9))) is not None
    twice = [[-1e9, -2e9, -1e9], [-2e9, 3, 4]]  # a causal mask and one for padding
    assert compare(leaf(twice), leaf([twice[0], [-2e9, 3, 4.001]])) is not None


def test_numbers_of_different_magnitudes_are_not_a_mask() -> None:
    """Sums that cancel are as inexact as their largest term."""
    want = np.array([1e6, -3e6, 2e5, 0.1, 0.2, -0.3])
    assert compare(leaf(want), leaf([*want[:3], 0.6, *want[4:]])) is None
    assert compare(leaf([1e6, 0.0]), leaf([1e6, 0.5])) is None


# --- complex numbers ----------------------------------------------------------------------------

PARTS = st.sampled_from([0.0, 1.0, -2.0, math.nan, math.inf, -math.inf])


@given(PARTS, PARTS, PARTS, PARTS)
def test_complex_numbers_are_equal_if_both_parts_are(
    a: float, b: float, c: float, d: float
) -> None:
    def same(x: float, y: float) -> bool:
        return x == y or (math.isnan(x) and math.isnan(y))

    one, other = np.empty(1, np.complex64), np.empty(1, np.complex64)
    one.real, one.imag, other.real, other.imag = a, b, c, d
    passed = compare(leaf(one, "complex64"), leaf(other, "complex64")) is None
    assert passed == (same(a, c) and same(b, d))


def test_a_given_tolerance_replaces_the_dtype_s() -> None:
    assert compare(leaf([1.0]), leaf([1.05]), 0.1) is None
    assert compare(leaf([1.0], "bfloat16"), leaf([1.008], "bfloat16"), 1e-3) is not None
    assert compare(leaf([1.0]), leaf([np.nextafter(np.float32(1), np.float32(2))]), 0.0) is not None


def test_the_first_wrong_elements_are_listed_and_the_worst_always() -> None:
    actual = np.ones(100, np.float32)
    actual[70] = 5
    found = mismatch(leaf(np.zeros(100)), leaf(actual))
    indices = [entry.index for entry in found.entries]
    assert len(indices) == ENTRIES
    assert indices[:3] == [(0,), (1,), (2,)] and (70,) in indices
    assert (found.where, found.first, found.wrong, found.max_error) == ((70,), (0,), 100, 5.0)
    assert next(e for e in found.entries if e.index == (70,)).actual == "5"


# --- structure ----------------------------------------------------------------------------------


@for_each(
    ("expected", "actual", "kind", "text"),
    [
        ({"a": leaf(1), "b": leaf(2)}, {"a": leaf(1)}, "structure",
         "found {'a': float32[]}, expected {'a': float32[], 'b': float32[]}"),
        ({"a": leaf(1)}, {"A": leaf(1)}, "structure", "found {'A': float32[]}, expected {'a'"),
        ({1: leaf(1)}, {"1": leaf(1)}, "structure", "found {'1': float32[]}, expected {1: "),
        ([leaf(1)], [leaf(1), leaf(2)], "structure", "found 2 values (each float32[]), expected 1"),
        ([leaf(1)], {"a": leaf(1)}, "structure", "found {'a': float32[]}, expected [float32[]]"),
        ([leaf(1)], leaf(1), "structure", "found an array of shape (), expected [float32[]]"),
        (leaf([1, 2]), None, "structure", "found None, expected an array of shape (2,)"),
        (None, leaf(1, "int64", "int"), "structure", "found a Python int, expected None"),
        ("yes", "no", "structure", "found 'no', expected 'yes'"),
        ("1", leaf(1), "structure", "found an array of shape (), expected '1'"),
        (leaf(1), Leaf(None, "function f"), "type", "found function f, expected an array of sha"),
        (leaf([1, 2], "uint32", "key"), leaf([1, 2], "uint32"), "type",
         "found an array of shape (2,), expected a PRNG key of shape ()"),
        (leaf([1, 2], "uint32", "key"), leaf([1, 3], "uint32", "key"), "value", "largest differen"),
        ({"w": [leaf([1, 2])]}, {"w": [leaf([1, 3])]}, "value", "['w'][0]: largest difference 1"),
        ({"w": (leaf(1), leaf(2))}, {"w": [leaf(1), leaf(3)]}, "value", "['w'][1]: expected 2"),
        ({"w": leaf([[1]])}, {"w": leaf([1])}, "shape", "['w']: shape (1,), expected (1, 1): axis"),
    ],
)  # fmt: skip
def test_a_wrong_structure_is_reported_with_its_path(
    expected: Tree, actual: Tree, kind: str, text: str
) -> None:
    found = mismatch(expected, actual)
    assert found.kind == kind
    assert words(found).startswith(text)


def test_a_wrong_dtype_is_reported() -> None:
    found = Mismatch("dtype", "['w']", Side("jax.Array", (3,), "int32"), Side("x", (3,), "bool"))
    assert words(found) == "['w']: dtype bool, expected int32"


def test_the_first_difference_is_reported() -> None:
    expected = {"a": leaf(1), "b": leaf(2), "c": leaf(3)}
    assert mismatch(expected, {"c": leaf(0), "b": leaf(0), "a": leaf(1)}).path == "['b']"


def test_leaves_without_arrays_are_never_equal() -> None:
    """Functions with equal names may differ."""
    assert mismatch(Leaf(None, "function f"), Leaf(None, "function f")).kind == "type"


def test_a_large_tree_is_described_in_a_sentence() -> None:
    layers = {f"layer_{i}": {"kernel": leaf(np.zeros((3, 3)))} for i in range(50)}
    text = said(layers, {**layers, "bias": leaf(0)})
    assert len(text) < 700 and "a dict with the keys 'bias', 'layer_0'" in text
    text = said([leaf(0), {}, (), []] * 50, [leaf(0)] * 201)
    assert len(text) < 700
    assert text.startswith("found 201 values (each float32[]), expected 200 values (float32[], a")
    assert "expected 200 values (float32[], a dict, a tuple, a list, float32[], " in text


@given(hnp.array_shapes(min_dims=2, max_dims=4, max_side=5), st.randoms(use_true_random=False))
def test_permuted_axes_are_named(shape: tuple[int, ...], random: Any) -> None:
    order = list(range(len(shape)))
    random.shuffle(order)
    actual = np.zeros(shape).transpose(order).shape
    assume(actual != shape)
    text = said(leaf(np.zeros(shape)), leaf(np.zeros(actual)))
    how = "the axes are swapped" if len(shape) == 2 else "the axes are in another order"
    assert text == f"shape {actual}, expected {shape}: {how}"


@for_each(
    ("actual", "expected", "reason"),
    [
        ((3, 7), (7, 3), "the axes are swapped"),
        ((2, 3, 4), (4, 3, 2), "the axes are in another order"),
        ((5, 1), (5, 3), "axis 1 was reduced to 1"),
        ((1,), (9,), "axis 0 was reduced to 1"),
        ((5, 3, 1), (5, 3), "there is an extra axis of size 1 (axis 2)"),
        ((7, 5, 3), (5, 3), "there is an extra axis of size 7 (axis 0)"),
        ((1,), (), "there is an extra axis of size 1 (axis 0)"),
        ((5,), (5, 3), "axis 1 of size 3 is missing"),
        ((), (3,), "axis 0 of size 3 is missing"),
        ((3,), (7, 3), "axis 0 of size 7 is missing"),
        ((12,), (2, 3, 2), "the same number of elements in another layout"),
        ((2, 2, 3), (12,), "the same number of elements in another layout"),
        ((5, 2), (5, 3), ""),
        ((4, 2), (5, 3), ""),
        ((2,), (2, 3, 4), ""),
        ((0,), (0, 5, 5), "the same number of elements in another layout"),
        ((2**40, 2**40), (2**40,), f"there is an extra axis of size {2**40} (axis 0)"),
    ],
)
def test_shapes_are_explained(
    actual: tuple[int, ...], expected: tuple[int, ...], reason: str
) -> None:
    text = f"shape {actual}, expected {expected}"
    assert shape_words(actual, expected) == (f"{text}: {reason}" if reason else text)


@for_each(
    ("value", "text"),
    [
        (np.float64(2.0), "2"),
        (np.float64(-0.0), "0"),
        (np.float64(1 / 3), "0.333333"),
        (np.float64(1e20), "1e+20"),
        (np.float64(np.nan), "nan"),
        (np.float64(-np.inf), "-inf"),
        (np.int64(-(2**63)), "-9223372036854775808"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.bool_(True), "True"),
        (False, "False"),
        (np.longdouble(3), "3"),
        (np.longdouble("1e300"), "1e+300"),
        (np.complex128(1 - 2.5j), "1-2.5j"),
        (np.clongdouble(1j), "0+1j"),
        (3, "3"),
        (0.5, "0.5"),
    ],
)
def test_numbers_are_shown_briefly(value: Any, text: str) -> None:
    assert number(value) == text


# --- words and JSON for every mismatch ----------------------------------------------------------


@st.composite
def changed_leaf(draw: st.DrawFn) -> tuple[Tree, Tree]:
    """Return a tree, and a copy with every array replaced by another of the same shape."""
    shape = draw(SHAPES)
    both = arrays(shapes=st.just(shape))
    one, other = Leaf(draw(both), "torch.Tensor"), Leaf(draw(both), "jax.Array")
    key = draw(st.text(max_size=3))
    return draw(st.sampled_from([(one, other), ({key: one}, {key: other}), ([one], (other,))]))


@given(st.one_of(st.tuples(trees(), trees()), changed_leaf()), st.sampled_from([None, 0.0, 1e-3]))
@example((leaf([0, 1.7e308], "float64"), leaf([0, -1.7e308], "float64")), None)
@example((leaf([1, 2]), leaf(np.array([2, 1], np.int64), "int64")), None)
def test_every_mismatch_has_words_and_survives_json(
    pair: tuple[Tree, Tree], tolerance: float | None
) -> None:
    found = compare(*pair, tolerance)
    if found is None:
        return
    text = words(found)
    assert text and "\n" not in text
    data = msgspec.json.encode(found)
    assert msgspec.json.decode(data, type=Mismatch) == found
    assert b"NaN" not in data and b"Infinity" not in data
    if found.kind in ("value", "nan"):
        assert 1 <= found.wrong <= found.total
        assert 1 <= len(found.entries) <= ENTRIES
        indices = [entry.index for entry in found.entries]
        assert found.where in indices and len(set(indices)) == len(indices)


# --- descriptions of trees ----------------------------------------------------------------------


@for_each(
    ("tree", "text"),
    [
        (leaf(np.zeros((7, 5))), "float32[7, 5]"),
        (leaf(0.0, "bfloat16"), "bfloat16[]"),
        (leaf(3, "int64", "int"), "3"),
        (leaf(0.5, "float64", "float"), "0.5"),
        (leaf(True, "bool", "bool"), "True"),
        (leaf([1, 2], "uint32", "key"), "key"),
        (leaf([[1, 2]] * 3, "uint32", "key"), "key[3]"),
        (Leaf(None, "function f"), "function f"),
        ({"w": [leaf(0)], 1: (None, "x")}, "{'w': [float32[]], 1: (None, 'x')}"),
        # Only a dishonest worker sends these.
        (leaf([1, 2], "int64", "int"), "int64[2]"),
        (leaf([], "float32", "float"), "float32[0]"),
        (leaf(5, "uint32", "key"), "uint32[]"),
    ],
)
def test_a_tree_is_described_by_its_shapes(tree: Tree, text: str) -> None:
    assert brief(tree) == text


@given(trees())
def test_every_tree_has_a_description_and_every_array_a_path(tree: Tree) -> None:
    assert brief(tree)
    paths = [path for path, _ in leaves(tree)]
    assert len(set(paths)) == len(paths)
