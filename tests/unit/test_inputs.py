"""Hidden inputs: what an author may ask for, and that a seed says exactly what is drawn."""

import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.cases import for_each
from tutor.checks.train import Train
from tutor.engine.plan import plan
from tutor.inputs.datasets import DATA, DATASETS, Dataset
from tutor.inputs.drawing import MAX_ELEMENTS, DrawError
from tutor.inputs.draws import MAX_TEXT, Draw, draw_tree, holds_key, names_in, parse
from tutor.inputs.functions import FUNCTIONS, function_named, function_names
from tutor.inputs.sizes import draw_sizes
from tutor.inputs.streams import generator, word
from tutor.tree import Leaf, Tree, brief, leaves, real

from .trees import identical

SIZES = {"B": 4, "n": 3}

GIVEN: dict[str, Tree] = {
    "ends": Leaf(np.array([2, 5], np.int32), "array"),
    "params": {
        "w": Leaf(np.zeros((3, 2), np.float32), "array"),
        "b": [Leaf(np.ones(2, np.float16), "array"), Leaf(np.ones(4, np.complex64), "array")],
    },
}
"""Inputs that others begin with."""


def drawn(text: str, seed: tuple[int, ...] = (1, 2, 3), sizes: dict[str, int] = SIZES) -> Tree:
    return draw_tree(parse(text), sizes, seed, inputs=GIVEN)


def leaf(text: str, seed: tuple[int, ...] = (1, 2, 3)) -> Leaf:
    found = drawn(text, seed)
    assert isinstance(found, Leaf)
    return found


# --- every documented draw -----------------------------------------------------------------

DOCUMENTED = {
    "normal": [
        ("normal(B, 3)", "float32[4, 3]"),
        ("normal()", "float32[]"),
        ("normal(2, mean=5, scale=0.1)", "float32[2]"),
        ("normal(2, dtype='bfloat16')", "bfloat16[2]"),
        ("normal(2, dtype='complex64')", "complex64[2]"),
    ],
    "uniform": [("uniform(B)", "float32[4]"), ("uniform(2, low=-1, high=n)", "float32[2]")],
    "integers": [("integers(0, n, B, 2)", "int32[4, 2]"), ("integers(0, 9)", "int32[]")],
    "permutation": [("permutation(B)", "int32[4]")],
    "bernoulli": [("bernoulli(B, n)", "bool[4, 3]"), ("bernoulli(2, p=0.9)", "bool[2]")],
    "zeros": [("zeros(B)", "float32[4]"), ("zeros(2, dtype='int32')", "int32[2]")],
    "ones": [("ones(B, 1)", "float32[4, 1]")],
    "full": [("full(2.5, n)", "float32[3]"), ("full(7, 2, dtype='uint8')", "uint8[2]")],
    "arange": [("arange(B)", "float32[4]"), ("arange(B * 2, dtype='int32')", "int32[8]")],
    "key": [("key()", "key")],
    "int": [("int(3, 3)", "3"), ("int(3, 4)", "3")],
    "float": [("float(0.5, 0.5)", "0.5")],
    "sorted": [("sorted(B, n)", "float32[4, 3]"), ("sorted(5, high=9, dtype='int32')", "int32[5]")],
    "one_hot": [("one_hot(B, n)", "float32[4, 3]"), ("one_hot(5, dtype='int32')", "int32[5]")],
    "mask": [("mask(B, n, p=0.9)", "bool[4, 3]"), ("mask(n, dtype='float32')", "float32[3]")],
    "lengths": [("lengths(B, n)", "int32[4]")],
    "tokens": [("tokens(9, B, n)", "int32[4, 3]"), ("tokens(n, 5)", "int32[5]")],
    "spd": [("spd(n)", "float32[3, 3]"), ("spd(B, 2, n, condition=2)", "float32[4, 2, 3, 3]")],
    "orthogonal": [("orthogonal(n)", "float32[3, 3]"), ("orthogonal(B, n)", "float32[4, 3, 3]")],
    "images": [
        ("images(B, 5, 6, 3)", "float32[4, 5, 6, 3]"),
        ("images(5, 6, 1, dtype='uint8')", "uint8[5, 6, 1]"),
    ],
    "graph": [("graph(B, n)", "{'senders': int32[3], 'receivers': int32[3]}")],
    "sequence_mask": [
        ("sequence_mask(ends, 6)", "bool[2, 6]"),
        ("sequence_mask(ends, 6, dtype='float32')", "float32[2, 6]"),
    ],
    "normal_like": [
        ("normal_like(params)", "{'w': float32[3, 2], 'b': [float16[2], complex64[4]]}"),
        ("normal_like(ends, scale=2)", "float32[2]"),
        (
            "normal_like(params, dtype='bfloat16')",
            "{'w': bfloat16[3, 2], 'b': [bfloat16[2], bfloat16[4]]}",
        ),
    ],
    "near": [("near(params)", "{'w': float32[3, 2], 'b': [float16[2], complex64[4]]}")],
    "shuffled": [("shuffled(ends)", "int32[2]")],
    "blobs": [
        ("blobs(B, n)", "{'x': float32[4, 3], 'y': int32[4]}"),
        ("blobs(7, 1, classes=n, spread=2)", "{'x': float32[7, 1], 'y': int32[7]}"),
    ],
    "moons": [("moons(B, noise=0)", "{'x': float32[4, 2], 'y': int32[4]}")],
    "plane": [("plane(B, n, noise=1)", "{'x': float32[4, 3], 'y': float32[4]}")],
}


def test_every_draw_is_documented_and_every_documented_draw_is_tried() -> None:
    assert set(function_names()) == set(DOCUMENTED) | set(DATASETS)
    for name in function_names():
        function = function_named(name)
        assert function is not None
        assert function.usage.startswith(f"{name}(")


@for_each(("text", "shown"), [case for cases in DOCUMENTED.values() for case in cases])
def test_a_draw_has_the_documented_shape_and_dtype(text: str, shown: str) -> None:
    assert brief(drawn(text)) == shown


def test_draws_have_the_documented_values() -> None:
    normal = leaf("normal(9999, mean=5, scale=2)").values
    assert abs(normal.mean() - 5) < 0.1 and abs(normal.std() - 2) < 0.1
    uniform = leaf("uniform(9999, low=2, high=3)").values
    assert uniform.min() >= 2 and uniform.max() <= 3 and abs(uniform.mean() - 2.5) < 0.02
    assert set(leaf("integers(2, 5, 999)").values) == {2, 3, 4}  # high left out
    assert sorted(leaf("permutation(9)").values) == list(range(9))
    assert abs(leaf("bernoulli(9999, p=0.2)").values.mean() - 0.2) < 0.02
    assert set(leaf("full(-1, 5)").values) == {-1.0}
    assert list(leaf("arange(3)").values) == [0, 1, 2]
    number = leaf("float(2, 4)")
    assert number.type == "float" and 2 <= number.values <= 4


@given(st.integers(-5, 5), st.integers(1, 9), st.integers(0, 6), st.integers(0, 10**6))
def test_bounds_of_integers_occur_at_first_and_then_are_missing(
    low: int, span: int, size: int, seed: int
) -> None:
    most = low + span - 1
    draw = parse(f"integers({low}, {low + span}, {size})")
    for first in (True, False):
        tree = draw_tree(draw, SIZES, (seed,), first=first)
        assert isinstance(tree, Leaf)
        values = {int(value) for value in tree.values}
        assert all(low <= value <= most for value in values)
        if span > 2 and not first:
            assert not values & {low, most}
        elif size > 1:
            assert {low, most} <= values


def test_a_python_integer_walks_along_its_bounds() -> None:
    def at(seed: int, corner: int) -> int:
        tree = draw_tree(parse("int(1, 10)"), SIZES, (seed,), corner)
        assert isinstance(tree, Leaf)
        return int(tree.values)

    assert [at(seed, corner) for seed in range(9) for corner in (0, 1)] == [1, 9] * 9
    assert {at(seed, 2) for seed in range(200)} == set(range(1, 10))
    draw = parse("int(1, 10)")
    pair = draw_tree((draw, draw), SIZES, (1,), 0)  # not both at the same bound
    assert isinstance(pair, list)
    assert [leaf.values for leaf in pair if isinstance(leaf, Leaf)] == [1, 9]


def test_a_key_is_the_raw_data_of_one() -> None:
    key = leaf("key()")
    assert (key.type, key.values.dtype, key.values.shape) == ("key", np.uint32, (2,))


@for_each("seed", range(5))
def test_digits_and_their_labels_are_aligned(seed: int) -> None:
    all_x, all_y = DATASETS["digits"].load()
    found = drawn("digits(B, 20)", (seed,))
    assert isinstance(found, dict)
    x, y = found["x"], found["y"]
    assert isinstance(x, Leaf) and isinstance(y, Leaf)
    rows = {row.tobytes(): int(label) for row, label in zip(all_x, all_y, strict=True)}
    for row, label in zip(x.values.reshape(-1, 64), y.values.ravel(), strict=True):
        assert rows[row.tobytes()] == label
    assert len({row.tobytes() for row in x.values.reshape(-1, 64)}) > 70  # rows without repeats


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS)
def test_every_data_set_has_examples_and_a_licence(dataset: Dataset) -> None:
    x, y = dataset.load()
    assert (x.dtype, x.ndim, y.dtype, y.shape) == (np.float32, 2, np.int32, (len(x),))
    assert set(y) == set(range(y.max() + 1))
    assert dataset.licence.endswith("-LICENSE.md")  # what pyproject.toml packs
    assert dataset.file in (DATA / dataset.licence).read_text(encoding="utf-8")


def test_all_that_lies_with_the_data_belongs_to_a_data_set() -> None:
    files = {name for one in DATASETS.values() for name in (one.file, one.licence)}
    assert {path.name for path in DATA.iterdir()} == files


@pytest.fixture
def flowers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Another data set: an archive and an entry."""
    raw = np.arange(240).reshape(60, 4)
    np.savez(tmp_path / "flowers.npz", sizes=raw, species=np.arange(60) % 3)
    dataset = Dataset(
        "flowers",
        str(tmp_path / "flowers.npz"),
        "FLOWERS-LICENSE.md",
        features="sizes",
        labels="species",
        shift=100,
        scale=50,
    )
    monkeypatch.setitem(DATASETS, "flowers", dataset)
    return dataset


def test_an_entry_is_all_that_a_data_set_needs_to_be_drawn(flowers: Dataset) -> None:
    x, y = flowers.load()
    assert x[0].tolist() == pytest.approx([-2, -1.98, -1.96, -1.94])
    assert brief(drawn("flowers(B, 5)")) == "{'x': float32[4, 5, 4], 'y': int32[4, 5]}"
    found = drawn("flowers(60)")
    assert isinstance(found, dict) and isinstance(found["y"], Leaf)
    assert sorted(found["y"].values) == sorted(y)
    with pytest.raises(DrawError, match="there are 60 flowers, not 61"):
        drawn("flowers(61)")
    with pytest.raises(DrawError, match="flowers needs at least 1 arguments"):
        parse("flowers()")
    with pytest.raises(DrawError, match="digits, flowers"):
        parse("flower(3)")


def test_an_entry_is_all_that_a_data_set_needs_to_train_on(flowers: Dataset) -> None:
    check = Train(
        name="t", train="f(x, y)", predict="g(x)", data="flowers", held_out=50, accuracy=0.5
    )
    inputs, held = check.extra_inputs((1,))
    assert (brief(inputs["x"]), held.labels.shape) == ("float32[10, 4]", (50,))
    with pytest.raises(DrawError, match="there are only 60 flowers"):
        replace(check, held_out=60).extra_inputs((1,))


@for_each(
    ("text", "size"),
    [("B + n", 7), ("B - 1", 3), ("2 * (B + 1)", 10), ("B // 3", 1), ("-B + 5", 1), ("- -2", 2)],
)
def test_arithmetic_between_sizes_and_numbers(text: str, size: int) -> None:
    assert leaf(f"zeros({text})").values.shape == (size,)


# --- what a seed fixes ---------------------------------------------------------------------

RANDOM = ["normal(50)", "uniform(50)", "integers(0, 1000, 50)", "permutation(50)",
          "bernoulli(50)", "key()", "float(0, 1)", "digits(50)", "sorted(50)", "one_hot(30, 5)",
          "mask(50)", "lengths(50, 20)", "tokens(50, 5, 9)", "spd(5)", "orthogonal(5)",
          "images(2, 5, 5, 3)", "graph(20, 40)", "normal_like(params)", "near(params)"]  # fmt: skip


@for_each("text", RANDOM)
def test_the_same_seed_draws_the_same_and_another_does_not(text: str) -> None:
    assert identical(drawn(text, (5, 1)), drawn(text, (5, 1)))
    for other in ((5, 2), (6, 1), (1, 5), (5, 1, 1)):
        assert not identical(drawn(text, (5, 1)), drawn(text, other))


def test_a_seed_stays_what_it_was() -> None:
    """Reports quote seeds, so one may not mean another stream in the next version."""
    raw = generator((1, 2, 3)).bit_generator.random_raw(2)
    assert raw.tolist() == [12368030237656201616, 2047858591075935483]
    assert word("x") == 2363233923


def test_two_leaves_of_one_tree_are_independent() -> None:
    tree = draw_tree({"a": parse("normal(99)"), "b": (parse("normal(99)"),) * 2}, SIZES, (1,))
    flat = [found.values for _, found in leaves(tree)]
    assert len(flat) == 3
    for i, one in enumerate(flat):
        for other in flat[:i]:
            assert abs(np.corrcoef(one, other)[0, 1]) < 0.5


def test_adding_an_entry_to_a_tree_leaves_the_others_as_they_were() -> None:
    small = draw_tree({"b": parse("normal(9)")}, SIZES, (1,))
    large = draw_tree({"a": parse("normal(9)"), "b": parse("normal(9)")}, SIZES, (1,))
    assert isinstance(small, dict) and isinstance(large, dict)
    assert identical(small["b"], large["b"])


def lesson(**inputs: str) -> Any:
    from tutor.checks.value import Value
    from tutor.lesson import Lesson

    expression = f"f({', '.join(inputs)})"
    return Lesson(
        id="one", title="T", track="t", minutes=1, brief="B", torch="x = 1", starter="x = 1",
        hints=("h",), sizes={"n": (3, 4, 5)}, inputs={k: parse(v) for k, v in inputs.items()},
        checks=(Value(value=expression, name="a"), Value(value=expression, name="b")),
    )  # fmt: skip


def test_adding_an_input_to_a_lesson_changes_no_other() -> None:
    ((_, before), _) = plan(lesson(x="normal(n)"), 7)
    ((_, after), _) = plan(lesson(y="normal(n)", x="normal(n)", k="key()"), 7)
    for one, other in zip(before, after, strict=True):
        assert identical(one.inputs["x"], other.inputs["x"])
        assert one.sizes == other.sizes


def test_inputs_differ_from_name_to_name_case_to_case_and_seed_to_seed() -> None:
    ((_, cases), (_, again)) = plan(lesson(x="normal(9)", y="normal(9)"), 7)
    ((_, others), _) = plan(lesson(x="normal(9)", y="normal(9)"), 8)
    seen = [one.inputs[name] for one in (*cases, *others) for name in ("x", "y")]
    assert not any(identical(a, b) for i, a in enumerate(seen) for b in seen[:i])
    assert identical(cases[0].inputs["x"], again[0].inputs["x"])  # from check to check the same


def test_the_cases_of_a_check_see_both_bounds_of_an_integer() -> None:
    together = set()
    for seed in range(20):
        ((_, cases), _) = plan(lesson(i="int(0, 51)", j="int(0, 51)"), seed)
        seen = [tuple(int(real(one.inputs[name])) for name in ("i", "j")) for one in cases]
        assert {0, 50} <= {i for i, _ in seen} and {0, 50} <= {j for _, j in seen}
        together.add(seen[0])
    assert len(together) > 3  # they do not walk in step


# --- sizes ---------------------------------------------------------------------------------


def test_sizes_walk_through_their_candidates_case_by_case() -> None:
    for seed in range(20):
        seen = [draw_sizes({"n": (7, 6, 5)}, (seed, case))["n"] for case in range(6)]
        assert set(seen[:3]) == {5, 6, 7}
        assert seen[3:] == seen[:3]


@given(st.integers(0, 10**6))
def test_no_size_is_one_at_first_and_then_not_all_at_once(seed: int) -> None:
    sizes = {"n": (7, 6, 1), "m": (5, 1, 4), "d": (1, 3), "one": 1, "only": (1,)}
    drawn = [draw_sizes(sizes, (seed, case)) for case in range(3)]
    short = [{name for name in ("n", "m", "d") if one[name] == 1} for one in drawn]
    assert not short[0]
    assert short[1] in ({"n", "d"}, {"m", "d"}) and short[2] == {"n", "m"} - short[1]
    assert all(one["one"] == one["only"] == 1 for one in drawn)


def test_where_sizes_start_depends_on_the_seed_and_the_name() -> None:
    chosen = [draw_sizes({"a": (2, 3, 4), "b": (2, 3, 4)}, (seed, 0)) for seed in range(40)]
    assert {one["a"] for one in chosen} == {2, 3, 4}
    assert any(one["a"] != one["b"] for one in chosen)


def test_a_size_of_one_candidate_is_that_size() -> None:
    assert draw_sizes({"n": 5, "m": (6,)}, (1, 2)) == {"n": 5, "m": 6}


def test_the_names_in_draws_are_the_sizes_they_use() -> None:
    draws = {"a": parse("normal(B, 2 * n)"), "b": (parse("full(q, 3)"), parse("uniform(high=r)"))}
    assert names_in(draws) == {"B", "n", "q", "r"}


def test_a_key_is_found_anywhere_among_draws() -> None:
    assert holds_key({"a": (parse("normal(3)"), parse("key()"))})
    assert not holds_key({"a": (parse("normal(3)"),)})


# --- what is no draw -----------------------------------------------------------------------


@for_each(
    ("text", "message", "column"),
    [
        ("nromal(3)", "no draw is called 'nromal'; there are normal, uniform", 0),
        ("  nromal(3)", "no draw is called 'nromal'", 2),
        ("normal", "not a call of one of normal, uniform", 0),
        ("normal(3", "not a call such as normal", 6),
        ("", "not a call such as normal", 0),
        ("np.normal(3)", "not a call of one of", 0),
        ("normal(3).x", "not a call of one of", 0),
        ("[normal(3)]", "not a call of one of", 0),
        ("normal(3, sclae=2)", "normal has no option 'sclae'; it has: dtype, mean, scale", 10),
        ("key(seed=1)", "key has no option 'seed'; it has: none", 4),
        ("normal(**B)", "normal has no option '**'", 7),
        ("normal(*B)", "expected a number, a size, or + - * / // ** of them", 7),
        ("normal(3, '4')", "expected a number", 10),
        ("normal(True)", "expected a number", 7),
        ("normal(3j)", "expected a number", 7),
        ("normal(B.n)", "expected a number", 7),
        ("normal(f(3))", "expected a number", 7),
        ("normal(3 % 2)", "expected a number", 7),
        ("normal(3 @ 2)", "expected a number", 7),
        ("normal(1, ~2)", "expected a number", 10),
        ("normal([3])", "expected a number", 7),
        ("normal(B if n else 2)", "expected a number", 7),
        ("normal(2, scale=[1])", "expected a number", 16),
        ("normal(2, scale='big')", "scale must be a number", 0),
        ("normal(2, dtype=int32)", "dtype must be one of 'float32', 'float16'", 0),
        ("normal(2, dtype='f4')", "dtype must be one of 'float32'", 0),
        ("normal(2, dtype='object')", "dtype must be one of 'float32'", 0),
        ("integers(5)", "integers needs at least 2 arguments: integers(low, high, *shape)", 0),
        ("permutation(3, 4)", "permutation takes 1 arguments: permutation(n)", 0),
        ("key(3)", "key takes 0 arguments: key(), a PRNG key", 0),
        ("int(3)", "int needs at least 2 arguments: int(low, high)", 0),
        ("full()", "full needs at least 1 arguments: full(value, *shape)", 0),
        ("digits()", "digits needs at least 1 arguments", 0),
        ("normal(" + "1+" * 200 + "1)", "409 characters; a draw has at most 300", 0),
        ("sorted()", "sorted needs at least 1 arguments", 0),
        ("sorted(3, dtype='complex64')", "dtype must be one of 'float32', 'float16'", 0),
        ("images(3, 4)", "images needs at least 3 arguments", 0),
        ("images(3, 4, 1, dtype='bool')", "dtype must be one of 'float32', 'float16'", 0),
        ("tokens(9)", "tokens needs at least 2 arguments", 0),
        ("spd(3, dtype='float16')", "spd has no option 'dtype'; it has: condition, scale", 7),
        ("graph(4)", "graph needs at least 2 arguments: graph(nodes, edges)", 0),
        ("lengths(4, 5, 6)", "lengths takes 2 arguments: lengths(n, longest)", 0),
        ("near()", "near begins with the name of another input", 0),
        ("near(2)", "near begins with the name of another input", 5),
        ("near(x + 1)", "near begins with the name of another input", 5),
        ("sequence_mask(ends)", "sequence_mask needs at least 2 arguments", 0),
        ("shuffled(x, 3)", "shuffled takes 1 arguments", 0),
    ],
)
def test_what_is_no_draw_is_refused_where_it_goes_wrong(
    text: str, message: str, column: int
) -> None:
    with pytest.raises(DrawError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert caught.value.column == column


DRAWISH = st.lists(
    st.sampled_from(
        [
            *function_names(),
            *"()[]{},.=+-*/%@~:'\"\\;!",
            *("//", "**", "B", "n", "3", "2.5", "1e400", "-1", "10**9", "0", "9" * 30, "True"),
            *("dtype=", "'int32'", "low=", "high=", "scale=", "mean=", "p=", "lambda:", "x", "\n"),
            *("\0", "\ud800", "é", "__import__('os')", "if", "for", ":=", "None", "..."),
        ]
    ),
    max_size=12,
).map("".join)


@st.composite
def calls(draw: st.DrawFn) -> str:
    """Calls that mostly parse, with arguments that mostly make no sense."""
    number = st.sampled_from(
        [
            *("0", "1", "3", "-1", "2.5", "1e400", "-1e400", "B", "n", "B*n", "1//0", "-B", "zz"),
            *("9" * 12, "9" * 25, "9" * 280, "1e308", "B - 1e400 + 1e400", "2**31", "4000001"),
        ]
    )
    arguments = draw(st.lists(number, max_size=4))
    names = st.sampled_from(["low", "high", "mean", "scale", "p", "condition"])
    options = draw(st.dictionaries(names, number, max_size=2))
    parts = [*arguments, *(f"{name}={value}" for name, value in options.items())]
    if dtype := draw(st.sampled_from(["", "bfloat16", "uint8", "bool", "complex64"])):
        parts.append(f"dtype='{dtype}'")
    name = draw(st.sampled_from(sorted(function_names())))
    if name in FUNCTIONS and FUNCTIONS[name].takes is not None:
        parts.insert(0, draw(st.sampled_from(["ends", "params", "other"])))
    return f"{name}({', '.join(parts)})"


def parsed_or_refused(text: str) -> Draw | None:
    try:
        return parse(text)
    except DrawError as error:
        problem = error
    assert str(problem)
    assert 0 <= problem.column <= len(text)
    return None


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@given(st.one_of(st.text(st.characters(), max_size=40), DRAWISH))
@example("normal(" * 43)
@example("normal(" + "-" * 290 + "1)")
@example("normal(" + "1+" * 146 + "1)")
@example("normal(" + "(" * 140 + "1" + ")" * 140 + ")")
def test_any_text_is_parsed_or_refused_and_nothing_else(text: str) -> None:
    draw = parsed_or_refused(text)
    assert draw is None or draw.text == text.strip()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(calls())
@example("integers(1e400, 5, 3)")
@example(f"integers(0, {'9' * 25})")
@example("normal(3, scale=-1)")
@example("uniform(3, low=1e308, high=-1e308)")
@example("int(5, 1)")
@example("float(0, 1e400)")
@example(f"full({'9' * 280}, 2, dtype='uint8')")
@example("zeros(" + "1, " * 70 + ")")
@example("normal(0, 9223372036854775807)")
@example("zeros(99999999999999, 0)")
@example("spd(0)")
@example("images(0, 0, 0, 0)")
@example("graph(0, 0)")
@example("sorted(3, high=1e400)")
@example("tokens(1e400 - 1e400, 3)")
@example("near(params, scale=1e400)")
@example(f"lengths({'9' * 280}, 1)")
def test_whatever_parses_is_drawn_or_refused_and_nothing_else(text: str) -> None:
    draw = parsed_or_refused(text)
    if draw is None:
        return
    tree: Tree = None
    problem: DrawError | None = None
    try:
        tree = draw_tree(draw, SIZES, (1,), inputs=GIVEN)
    except DrawError as error:
        problem = error
    assert (tree is None) == bool(problem)
    for _, found in leaves(tree):
        assert found.values.size <= MAX_ELEMENTS * 64
        assert not found.values.dtype.hasobject


@for_each(
    "text",
    [
        "normal(99999999999999)",
        "normal(9999999, 9999999)",
        "uniform(4000001)",
        "zeros(2000, 2001)",
        "full(1, 99999999999999999999999)",
        "arange(99999999999999)",
        "permutation(99999999999999)",
        "integers(0, 9, 99999999999999)",
        "bernoulli(99999999999999)",
        "digits(99999999999999)",
        "normal(0, 99999999999999)",
        "sorted(99999999999999)",
        "one_hot(3, 99999999999999)",
        "mask(3, 99999999999999)",
        "tokens(3, 99999999999999)",
        "lengths(99999999999999, 3)",
        "spd(99999999999999)",
        "images(3, 2000, 2000, 1)",
        "graph(99999999999999, 3)",
    ],
)
def test_huge_shapes_are_refused_without_allocating(text: str) -> None:
    draw = parse(text)
    # NumPy and the data set are loaded before memory is counted.
    drawn("normal(3)")
    drawn("digits(3)")
    tracemalloc.start()
    try:
        with pytest.raises(DrawError, match="elements; at most 4,000,000 may be drawn"):
            draw_tree(draw, SIZES, (1,))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_the_largest_shape_allowed_is_drawn() -> None:
    assert leaf(f"zeros({MAX_ELEMENTS})").values.size == MAX_ELEMENTS


@for_each(
    ("text", "message", "column"),
    [
        ("normal(Q)", "no size is called 'Q'", 7),
        ("normal(2.5)", "a dimension must be an integer from 0 up, got 2.5", 0),
        ("normal(B - 9)", "a dimension must be an integer from 0 up, got -5", 0),
        ("normal(B // 0)", "that arithmetic has no result", 7),
        ("digits(1798)", "there are 1797 digits, not 1798", 0),
        ("normal(3, scale=-1)", "normal(3, scale=-1): scale < 0", 0),
        ("sorted(3, low=5)", "sorted(5, 1): the second number is below the first", 0),
        ("sorted(3, low=-1, dtype='uint8')", "uint8 holds no numbers from -1 to 0", 0),
        ("one_hot(3, 0)", "one_hot: a row must have at least one class", 0),
        ("mask(3, 0)", "mask: a row must have at least one element", 0),
        ("mask(3, p=1.5)", "p must be from 0 to 1, got 1.5", 0),
        ("tokens(1, 3)", "a vocabulary must have 2 to 2**31 ids, 0 for padding; got 1", 0),
        ("tokens(5, 0)", "tokens: a row must have at least one token", 0),
        ("lengths(3, 0)", "the longest must be from 1 to 2**31, got 0", 0),
        ("spd(513)", "513 rows; at most 512 may be drawn", 0),
        ("spd(3, condition=0.5)", "condition must be from 1 to 10,000, got 0.5", 0),
        ("spd(3, scale=0)", "scale must be from 1e-30 to 1e30, got 0", 0),
        ("graph(3, 7)", "7 edges; 3 nodes have 6 without duplicates and self-loops", 0),
        ("graph(1, 1)", "1 edges; 1 nodes have 0 without duplicates and self-loops", 0),
        ("graph(9999, 100001)", "100,001 edges; at most 100,000 may be drawn", 0),
        ("near(x)", "near(x): no input is called 'x'", 5),
        (
            "near(ends)",
            "near(ends): it takes arrays of real or complex numbers; 'ends' is int32",
            5,
        ),
        (
            "sequence_mask(params, 3)",
            "sequence_mask(params, 3): it takes an array of integers; 'params' is a pytree",
            14,
        ),
        ("sequence_mask(ends, 4)", "a length must be from 0 to 4, got 5", 0),
        (
            "shuffled(params)",
            "shuffled needs arrays with the same number of rows, got [(3, 2), (2,), (4,)]",
            0,
        ),
    ],
)
def test_what_cannot_be_drawn_says_why(text: str, message: str, column: int) -> None:
    with pytest.raises(DrawError) as caught:
        drawn(text)
    assert str(caught.value) == message
    assert caught.value.column == column


def test_nothing_in_a_draw_is_executed(tmp_path: Any) -> None:
    mark = tmp_path / "mark"
    for text in (
        f"open('{mark}', 'w')",
        f"normal(open('{mark}', 'w'))",
        f"normal(3, scale=open('{mark}', 'w'))",
        f"normal(*open('{mark}', 'w'))",
        f"(lambda: open('{mark}', 'w'))()",
        f"normal((x := open('{mark}', 'w')))",
        f"normal(3, dtype=f\"{{open('{mark}', 'w')}}\")",
    ):
        with pytest.raises(DrawError):
            drawn(text)
    assert not mark.exists()


def test_arithmetic_cannot_be_made_to_take_long() -> None:
    began = time.process_time()
    text = "normal(" + "*".join(["9" * 20] * 13) + ")"
    assert len(text) <= MAX_TEXT
    with pytest.raises(DrawError, match="may be drawn"):
        drawn(text)
    assert time.process_time() - began < 1


def test_a_generator_is_fixed_by_its_seed() -> None:
    assert generator((1, 2)).random() == generator((1, 2)).random() != generator((2, 1)).random()


def test_a_draw_is_shown_by_its_text_alone():
    """What is remembered by a lesson's `repr` must be found again by the next process."""
    assert repr(parse("normal(n, 4)")) == repr(parse("normal(n, 4)")) == "Draw('normal(n, 4)')"
