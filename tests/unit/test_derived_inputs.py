"""Inputs that begin with another input: what they have in common with it, and in which order they
are drawn."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tutor.checks.compiles import Compiles
from tutor.checks.value import Value
from tutor.engine.plan import decoy, plan
from tutor.inputs.drawing import DrawError
from tutor.inputs.draws import draw_tree, parse
from tutor.inputs.order import circle_in, fault_of, needed
from tutor.lesson import Lesson
from tutor.tree import Leaf, Tree, leaves

from .trees import identical

SEEDS = st.integers(0, 10**6)


def array(values: Any, dtype: str) -> Leaf:
    return Leaf(np.asarray(values, dtype), "array")


def drawn(text: str, seed: int, **inputs: Tree) -> Any:
    tree = draw_tree(parse(text), {"T": 9}, (seed,), inputs=inputs)
    return tree.values if isinstance(tree, Leaf) else tree


# --- each draw -----------------------------------------------------------------------------


@given(st.lists(st.integers(0, 9), max_size=6), SEEDS)
def test_a_sequence_mask_is_true_before_each_length(lengths: list[int], seed: int) -> None:
    values = drawn("sequence_mask(x, T)", seed, x=array(lengths, "int32"))
    assert (values.shape, values.dtype) == ((len(lengths), 9), np.bool_)
    for row, length in zip(values, lengths, strict=True):
        assert row.tolist() == [True] * length + [False] * (9 - length)


def test_a_sequence_mask_has_the_axes_of_its_lengths() -> None:
    assert drawn("sequence_mask(x, T)", 1, x=array([[1, 2]], "uint8")).shape == (1, 2, 9)
    assert drawn("sequence_mask(x, T)", 1, x=array(3, "int32")).sum() == 3


def test_normal_numbers_like_another_input_have_its_structure_and_their_own_values() -> None:
    params: Tree = {"w": array(np.ones((300, 9)), "float32"), "n": [array([1, 2], "int32"), None]}
    other = drawn("normal_like(params, mean=5, scale=2)", 1, params=params)
    assert other["w"].values.shape == (300, 9) and other["w"].values.dtype == np.float32
    assert other["n"][0].values.dtype == np.float32 and other["n"][1] is None
    assert abs(other["w"].values.mean() - 5) < 0.2 and abs(other["w"].values.std() - 2) < 0.2


def test_complex_numbers_like_others_have_both_parts() -> None:
    x = array(np.zeros(9999), "complex64")
    for text in ("normal_like(x, scale=3)", "near(x, scale=3)"):
        values = drawn(text, 1, x=x)
        assert values.dtype == np.complex64
        assert abs(values.real.std() - values.imag.std()) < 0.1
        assert abs(np.abs(values).std() - 3 * (1 - np.pi / 4) ** 0.5) < 0.1


@given(SEEDS, st.sampled_from(["float32", "float16", "bfloat16"]))
def test_what_is_near_differs_by_as_much_as_asked(seed: int, dtype: str) -> None:
    x = draw_tree(parse(f"normal(40, 5, scale=3, dtype='{dtype}')"), {}, (seed, 1))
    assert isinstance(x, Leaf)
    values = drawn("near(x, scale=0.5)", seed, x=x)
    assert values.dtype == x.values.dtype
    difference = (values.astype(np.float64) - x.values.astype(np.float64)).ravel()
    assert 0.35 < difference.std() < 0.65
    assert abs(difference.mean()) < 0.2


@given(st.integers(0, 6), SEEDS)
def test_shuffled_rows_are_the_same_in_another_order(count: int, seed: int) -> None:
    rows = np.arange(3 * count).reshape(count, 3)
    found = drawn(
        "shuffled(x)", seed, x={"x": array(rows, "int32"), "y": array(rows[:, 0], "int32")}
    )
    x, y = found["x"].values, found["y"].values
    assert sorted(map(tuple, x)) == [*map(tuple, rows)]
    assert (x[:, 0] == y).all()  # rows that belong together
    assert count < 2 or not (x == rows).all()


# --- lessons -------------------------------------------------------------------------------


def lesson(*checks: Any, **inputs: str) -> Lesson:
    return Lesson(
        id="one", title="T", track="t", minutes=1, brief="B", torch="x = 1", starter="x = 1",
        hints=("h",), sizes={"n": (3, 4, 5), "T": (6, 7)},
        inputs={name: parse(text) for name, text in inputs.items()}, checks=checks,
    )  # fmt: skip


MASKED = {"mask": "sequence_mask(ends, T)", "ends": "lengths(n, T)"}


def test_an_input_is_drawn_after_those_that_it_begins_with() -> None:
    both = Value(value="f(ends, mask)")
    ((_, cases),) = plan(lesson(both, **MASKED), 1)
    for case in cases:
        ends, mask = case.inputs["ends"], case.inputs["mask"]
        assert isinstance(ends, Leaf) and isinstance(mask, Leaf)
        assert mask.values.sum(axis=1).tolist() == ends.values.tolist()


def test_an_input_that_only_others_need_is_drawn_but_not_given_to_the_code() -> None:
    alone, both = Value(value="f(mask)", name="a"), Value(value="f(mask, ends)", name="b")
    ((_, cases), (_, others)) = plan(lesson(alone, both, **MASKED), 1)
    for case, other in zip(cases, others, strict=True):
        assert case.inputs.keys() == {"mask"}
        assert identical(case.inputs["mask"], other.inputs["mask"])


def test_inputs_that_begin_with_others_change_none() -> None:
    check = Value(value="f(x, y)")
    ((_, before),) = plan(lesson(check, x="normal(n)", y="normal(n)"), 7)
    check = Value(value="f(x, y, z)")
    ((_, after),) = plan(lesson(check, z="near(x)", x="normal(n)", y="normal(n)"), 7)
    for one, other in zip(before, after, strict=True):
        assert identical(one.inputs["x"], other.inputs["x"])
        assert identical(one.inputs["y"], other.inputs["y"])


def test_every_call_of_a_check_draws_them_anew() -> None:
    ((_, (case,)),) = plan(lesson(Compiles(compiles="f(ends, mask)"), **MASKED), 1)
    masks = []
    for one in case.input_sets:
        ends, mask = one["ends"], one["mask"]
        assert isinstance(ends, Leaf) and isinstance(mask, Leaf)
        assert mask.values.sum(axis=1).tolist() == ends.values.tolist()
        masks.append(mask.values.tobytes())
    assert len(set(masks)) > 1


def test_an_input_of_a_check_replaces_the_one_that_others_begin_with() -> None:
    check = Value(value="f(mask)", inputs={"ends": parse("full(2, n, dtype='int32')")})
    ((_, cases),) = plan(lesson(check, **MASKED), 1)
    for case in cases:
        mask = case.inputs["mask"]
        assert isinstance(mask, Leaf) and (mask.values.sum(axis=1) == 2).all()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": "near(y)"}, "near(y): no input is called 'y'"),
        ({"x": "near(x)"}, "circular inputs: x needs x"),
        ({"x": "near(y)", "y": "shuffled(x)"}, "circular inputs: "),
        ({"x": "normal_like(k)", "k": "key()"}, "it takes arrays; 'k' is a PRNG key"),
    ],
)
def test_what_cannot_be_ordered_or_drawn_is_refused(inputs: dict[str, str], message: str) -> None:
    with pytest.raises(DrawError) as caught:
        plan(lesson(Value(value="f(x)"), **inputs), 1)
    assert message in str(caught.value)


def test_what_an_input_may_begin_with_is_known_before_it_is_drawn() -> None:
    inputs = {
        name: parse(text)
        for name, text in {
            "k": "key()", "i": "int(0, 3)", "d": "digits(3)", "g": "graph(3, 2)", "x": "normal(3)",
            "ends": "lengths(3, 5)", "flags": "full(1, 3, dtype='uint8')", "near_x": "near(x)",
            "mixed": "shuffled(ends)", "like": "normal_like(ends)", "half": "near(x)",
        }.items()
    }  # fmt: skip

    def fault(text: str) -> str:
        return fault_of(parse(text), inputs)

    for right in (
        *("near(x)", "near(near_x)", "near(like)", "shuffled(g)", "shuffled(d)"),
        *("normal_like(d)", "normal_like(ends)", "sequence_mask(ends, 3)"),
        *("sequence_mask(flags, 3)", "sequence_mask(mixed, 3)", "normal(3)"),
    ):
        assert fault(right) == ""
    integers = "it takes an array of integers; "
    assert fault("sequence_mask(x, 3)") == f"{integers}'x' is float32"
    assert fault("sequence_mask(near_x, 3)") == f"{integers}'near_x' is float32"
    assert fault("sequence_mask(g, 3)") == f"{integers}'g' is a pytree"
    assert fault("sequence_mask(i, 3)") == f"{integers}'i' is a Python int"
    assert fault("near(d)") == "it takes arrays of real or complex numbers; 'd' is int32"
    assert fault("shuffled(k)") == "it takes arrays; 'k' is a PRNG key"
    assert fault("near(q)") == "no input is called 'q'"


def test_an_order_holds_what_is_needed_and_nothing_else() -> None:
    draws = {"c": parse("near(b)"), "b": (parse("near(a)"), parse("normal(2)")),
             "a": parse("normal(2)"), "z": parse("near(z)")}  # fmt: skip
    assert needed(draws, ["c", "size"]) == ["a", "b", "c"]
    assert needed(draws, ["a"]) == ["a"]
    assert circle_in(draws) == ("z", "circular inputs: z needs z")
    del draws["z"]
    assert circle_in(draws) == ("", "")


# --- decoys --------------------------------------------------------------------------------


STRUCTURED = {
    "ids": "tokens(9, n, T)",
    "matrix": "spd(n)",
    "ends": "lengths(n, T)",
    "mask": "sequence_mask(ends, T)",
    "rows": "sorted(n, T)",
    "pixels": "images(n, T, T, 1)",
    "x": "normal(n)",
    "close": "near(x, scale=0.001)",
    "some": "mask(n, T)",
}


def test_decoys_have_the_structure_of_the_inputs_and_other_numbers() -> None:
    check = Compiles(compiles=f"f({', '.join(STRUCTURED)}, both)", calls=2)
    whole = lesson(check, **STRUCTURED)
    mixed: Any = {**whole.inputs, "both": {"i": parse("int(0, 100)"), "m": parse("mask(n, T)")}}
    from msgspec.structs import replace

    whole = replace(whole, inputs=mixed)
    planned = plan(whole, 1)
    ((_, (case,)),) = planned
    ((_, (other,)),) = decoy(whole, planned, 99)
    for one, two in zip(case.input_sets, other.input_sets, strict=True):
        found = {name: tree.values for name, tree in two.items() if isinstance(tree, Leaf)}
        assert (found["ids"][:, 0] > 0).all() and (found["ids"] > 0).all(axis=1).any()
        assert (np.linalg.eigvalsh(found["matrix"]) > 0).all()
        assert found["mask"].sum(axis=1).tolist() == found["ends"].tolist()
        assert (np.diff(found["rows"]) >= 0).all()
        assert 0 <= found["pixels"].min() <= found["pixels"].max() <= 1
        assert np.abs(found["close"] - found["x"]).max() < 0.01
        assert found["some"].any(axis=1).all()
        assert one.keys() == two.keys()
        for name, tree in one.items():
            pairs = zip(leaves(tree), leaves(two[name]), strict=True)
            for (path, leaf), (other_path, disguise) in pairs:
                assert (path, leaf.type) == (other_path, disguise.type)
                assert leaf.values.shape == disguise.values.shape
                if leaf.type == "int":  # programs depend on it
                    assert leaf.values == disguise.values
                elif leaf.values.dtype.kind == "f":
                    assert not np.intersect1d(leaf.values, disguise.values).size, name
        assert not identical(one["ids"], two["ids"])
