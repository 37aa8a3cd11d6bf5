"""The map of errors in a report: it marks what is wrong, whatever the numbers, and stays small."""

from typing import Any

import ml_dtypes
import msgspec
import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.cases import for_each
from tutor.check import DEFAULT_TOLERANCE
from tutor.checks.branches import BYTES as TREE_BYTES
from tutor.checks.compare import compare
from tutor.checks.error_map import BYTES, COLUMNS, ROWS
from tutor.report import ErrorMap, ErrorSlice, Mismatch
from tutor.tree import Leaf, Tree

from .trees import arrays, dtype, trees

BOTH = hnp.array_shapes(min_dims=0, max_dims=4, max_side=40).filter(
    lambda shape: np.prod(shape) < 20_000
)
TOLERANCE = DEFAULT_TOLERANCE["float32"]


def leaf(value: Any, name: str = "float32", kind: str = "jax.Array") -> Leaf:
    return Leaf(np.asarray(value, dtype(name)), kind)


def mapped(expected: Leaf, actual: Leaf) -> ErrorMap:
    found = compare(expected, actual)
    assert found is not None and found.errors is not None
    return found.errors


def levels(expected: Any, actual: Any) -> list[str]:
    (one,) = mapped(leaf(expected), leaf(actual)).slices
    return list(one.rows)


@given(BOTH.filter(lambda shape: np.prod(shape) > 1), st.data())
def test_a_cell_is_marked_exactly_if_an_element_of_it_is_beyond_the_tolerance(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    size = int(np.prod(shape))
    wrong = data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=30))
    nearly = data.draw(st.sets(st.integers(0, size - 1), max_size=30)) - wrong
    actual = np.zeros(size)
    actual[sorted(wrong)] = data.draw(st.sampled_from([2 * TOLERANCE, 0.05, -3.0, np.nan, np.inf]))
    actual[sorted(nearly)] = TOLERANCE / 2
    found = mapped(leaf(np.zeros(shape)), leaf(actual.reshape(shape)))

    matrices = (1, *shape) if len(shape) == 1 else shape
    down, across = found.step
    for one in found.slices:
        for row, cells in enumerate(one.rows):
            for column, level in enumerate(cells):
                block = np.zeros(matrices, bool)
                rows = slice(row * down, (row + 1) * down)
                block[(*one.index, rows, slice(column * across, (column + 1) * across))] = True
                assert (level != "0") == bool(wrong & set(np.flatnonzero(block))), (one, row)
    assert len(found.slices[0].rows) == -(-matrices[-2] // down) <= ROWS
    assert len(found.slices[0].rows[0]) == -(-matrices[-1] // across) <= COLUMNS


@for_each(
    ("error", "level"),
    [(0.0, "0"), (TOLERANCE / 2, "0"), (2e-4, "1"), (2e-3, "2"), (2e-2, "3"), (0.2, "4"),
     (1e30, "4"), (np.inf, "5"), (np.nan, "5")],
)  # fmt: skip
def test_a_level_is_the_size_of_the_error_relative_to_the_scale(error: float, level: str) -> None:
    for scale in (1.0, 1000.0):
        expected = np.array([scale, 0.0, 0.0])
        assert levels(expected, np.add(expected, [0, error * scale, 5 * scale])) == [f"0{level}4"]


def test_expected_nan_and_infinity_are_right() -> None:
    numbers = [np.nan, np.inf, -np.inf, 1.0]
    assert levels(numbers, [*numbers[:3], 2.0]) == ["0004"]
    assert levels(numbers, [1.0, -np.inf, 5.0, 1.0]) == ["5550"]


def test_a_vector_is_a_row_and_a_matrix_has_its_rows() -> None:
    expected = np.zeros((2, 3))
    actual = expected.copy()
    actual[1, 2] = 1
    assert levels(expected, actual) == ["000", "004"]
    assert levels(expected.ravel(), actual.ravel()) == ["000004"]


def test_of_large_arrays_a_cell_has_the_level_of_its_worst_element() -> None:
    expected = np.zeros((33, 65))
    actual = expected.copy()
    actual[0, :3] = (2e-4, 0.5, 2e-2)
    actual[32, 64] = 2e-3
    found = mapped(leaf(expected), leaf(actual))
    assert found.step == (3, 3)
    (one,) = found.slices
    assert (len(one.rows), len(one.rows[0])) == (11, 22)
    assert one.rows[0] == "4" + "0" * 21
    assert one.rows[-1] == "0" * 21 + "2"


def test_matrices_of_an_array_are_kept_with_their_index_as_far_as_they_fit() -> None:
    expected = np.zeros((2, 3, 4, 5))
    actual = expected.copy()
    actual[1, 2, 3, 4] = 1
    found = mapped(leaf(expected), leaf(actual))
    assert [one.index for one in found.slices] == [(i, j) for i in range(2) for j in range(3)]
    assert found.slices[-1] == ErrorSlice((1, 2), ("00000", "00000", "00000", "00004"))

    many = np.zeros((500, 16, 32))
    other = many.copy()
    other[7, 0, 0], other[300, :2, 0], other[400, 0, 0] = 0.05, 0.5, 3.0
    kept = [one.index for one in mapped(leaf(many), leaf(other)).slices]
    assert {(7,), (300,), (400,)} <= set(kept) and len(kept) < 10
    assert kept == sorted(kept)


def test_numbers_that_have_no_map() -> None:
    for expected, actual in [
        (leaf(1.0), leaf(2.0)),
        (leaf([1.0]), leaf([2.0])),
        (leaf([1, 2], "uint32", "key"), leaf([1, 3], "uint32", "key")),
        (leaf([1.0, 2.0]), leaf([1.0])),
    ]:
        found = compare(expected, actual)
        assert found is not None and found.errors is None


@st.composite
def unlike(draw: st.DrawFn) -> tuple[Leaf, Leaf]:
    shape = draw(BOTH)
    numbers = arrays(shapes=st.just(shape)) if np.prod(shape) < 50 else whole(shape)
    return Leaf(draw(numbers), "torch.Tensor"), Leaf(draw(numbers), "jax.Array")


def whole(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["bool", "int8", "uint64", "float32", "bfloat16", "complex64"])
    random = np.random.default_rng(0)
    return names.map(lambda name: (random.normal(size=shape) * 50).astype(dtype(name)))


@given(unlike())
@example((leaf(np.zeros((1,) * 30 + (4, 4))), leaf(np.ones((1,) * 30 + (4, 4)))))
@example((leaf(np.zeros((3000, 1, 1))), leaf(np.ones((3000, 1, 1)))))
@example((leaf(np.zeros((1, 90_000))), leaf(np.ones((1, 90_000)))))
@example((leaf([0, 1.7e308], "float64"), leaf([0, -1.7e308], "float64")))
@example((leaf([1, 2], "uint64"), leaf([2**64 - 1, 2], "uint64")))
def test_every_map_is_small_and_survives_json(pair: tuple[Leaf, Leaf]) -> None:
    found = compare(*pair)
    if found is None or found.errors is None:
        assert found is None or found.total < 2 or found.kind == "shape"
        return
    data = msgspec.json.encode(found.errors)
    assert msgspec.json.decode(data, type=ErrorMap) == found.errors
    assert len(data) <= BYTES + 100
    assert all(one.rows for one in found.errors.slices)
    assert found.where is not None
    assert found.where[:-2] in [one.index for one in found.errors.slices]
    assert set("".join("".join(one.rows) for one in found.errors.slices)) - {"0"}
    assert np.asarray([1.0], ml_dtypes.bfloat16).dtype.kind == "V"  # bfloat16 is no float of NumPy


# --- trees --------------------------------------------------------------------------------------


def drawn(expected: Tree, actual: Tree) -> list[str]:
    found = compare(expected, actual)
    assert found is not None
    return [
        f"{'  ' * one.depth}{'+' if one.right else '-'} {one.name} {one.text}".rstrip()
        for one in found.tree
    ]


V, X = np.zeros(3), np.zeros((2, 3))


def test_wrong_entries_are_open_and_right_ones_folded() -> None:
    expected = {
        "layers": [{"w": leaf(X), "b": leaf(V)}, {"w": leaf(X), "b": leaf(V)}],
        "step": leaf(3, "int64", "int"),
        "name": "adam",
    }
    actual = {
        "layers": ({"w": leaf(X), "b": leaf(V)}, {"w": leaf(X), "b": leaf([0, 0.5, 1])}),
        "step": leaf(3, "int64", "int"),
        "name": "adam",
    }
    assert drawn(expected, actual) == [
        "- ['layers']",
        "  + [0] 2 arrays",
        "  - [1]",
        "    + ['w'] float32[2, 3]",
        "    - ['b'] float32[3]: 2 of 3 differ, by at most 1",
        "+ ['step'] 3",
        "+ ['name'] 'adam'",
    ]


def test_every_way_to_differ_is_said() -> None:
    expected = {
        "a": leaf(2.0), "b": leaf(V), "c": leaf(V), "d": None, "e": leaf(V), "f": [leaf(1)],
        "n": leaf(V), "gone": leaf(X), "i": leaf([2**60, 1], "int64"),
    }  # fmt: skip
    actual = {
        "a": leaf(2.5), "b": leaf(X), "c": Leaf(None, "function\nf\x1b[31m"), "d": leaf(V),
        "e": {"x": leaf(V)}, "f": [leaf(1), leaf(2)], "n": leaf([0, np.nan, 0]),
        "i": leaf([2**60, 2], "int64"), "new": leaf(V),
    }  # fmt: skip
    assert drawn(expected, actual) == [
        "- ['a'] 2.5, expected 2",
        "- ['b'] shape (2, 3), expected (3,)",
        "- ['c'] function␊f␛[31m, expected float32[3]",
        "- ['d'] float32[3], expected None",
        "- ['e'] {'x': float32[3]}, expected float32[3]",
        "- ['f']",
        "  + [0] float32[]",
        "  - [1] not expected: float32[]",
        "- ['n'] float32[3]: 1 of 3 differ; NaN or infinite",
        "- ['gone'] missing, expected float32[2, 3]",
        "- ['i'] int64[2]: 1 of 2 differ, by 1",
        "- ['new'] not expected: float32[3]",
    ]


def test_many_right_neighbours_are_one_line() -> None:
    expected = [leaf(float(i)) for i in range(40)]
    actual = [*expected[:20], leaf(-1.0), *expected[21:]]
    assert drawn(expected, actual) == [
        "+ [0] … [19] 20 entries", "- [20] -1, expected 20", "+ [21] … [39] 19 entries"
    ]  # fmt: skip


def test_the_tolerance_of_the_check_decides_what_is_right() -> None:
    expected, actual = [leaf([1.0, 2]), leaf([1.0, 2])], [leaf([1.05, 2]), leaf([1.5, 2])]
    found = compare(expected, actual, 0.1)
    assert found is not None and [one.right for one in found.tree] == [True, False]


def test_an_array_and_a_tree_of_one_entry_have_no_picture() -> None:
    for expected, actual in [(leaf(V), leaf(V + 1)), ([leaf(V)], [leaf(V + 1)]), (leaf(V), {})]:
        found = compare(expected, actual)
        assert found is not None and found.tree == ()


@given(trees(), trees())
@example({"\x1b" * 50: leaf(V)} | {f"☃{i}": leaf(V) for i in range(300)}, {})
@example([leaf(V)] * 300, [leaf(V + 1)] * 299)
def test_every_picture_of_a_tree_is_small_printable_and_survives_json(
    expected: Tree, actual: Tree
) -> None:
    found = compare(expected, actual)
    if found is None:
        return
    data = msgspec.json.encode(found)
    assert msgspec.json.decode(data, type=Mismatch) == found
    assert len(msgspec.json.encode(found.tree)) <= TREE_BYTES
    assert all((one.name + one.text).isprintable() for one in found.tree)
    # What agrees is marked so, and the other way round.
    assert not found.tree or not all(one.right for one in found.tree)
