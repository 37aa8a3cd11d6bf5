"""Each kind of check judges data alone; here the data is made by hand."""

import math
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.cases import for_each
from tutor.check import Case, Check, Finding
from tutor.checks import kinds
from tutor.checks.bounds import Bounds
from tutor.checks.compiles import Compiles
from tutor.checks.distribution import Distribution
from tutor.checks.grad import Grad
from tutor.checks.held_out import Answers
from tutor.checks.learns import Learns
from tutor.checks.ledger import Ledger, Use, reused
from tutor.checks.permutation import Permutation
from tutor.checks.predict import Predict
from tutor.checks.prng import Prng
from tutor.checks.program import Program
from tutor.checks.pure import Pure
from tutor.checks.raises import Raises
from tutor.checks.same import Different, Same
from tutor.checks.shape import Shape, parse_spec
from tutor.checks.train import Train
from tutor.checks.train_step import TrainStep
from tutor.checks.value import Value
from tutor.checks.vmap import Vmap, stack
from tutor.report import Accuracy, Side
from tutor.tree import Leaf, Tree, TreeError, real

from .trees import arrays, dtype, leaves, trees

KEY = Leaf(np.array([0, 7], np.uint32), "key")
CASE = Case(0, {"B": 7, "n": 2}, ({"key": KEY},))


def uses(*rows: tuple[int, ...]) -> Leaf:
    """Return recorded uses of one key: kind, line and call of each."""
    key = (0, 7, -1, -1)
    return Leaf(np.array([[*row, 0, *key] for row in rows], np.int64).reshape(-1, 8), "array")


def leaf(value: Any, name: str = "float32", kind: str = "jax.Array") -> Leaf:
    return Leaf(np.asarray(value, dtype(name)), kind)


def found(check: Check, observed: Tree, expected: Tree | None = None, case: Case = CASE) -> Finding:
    finding = check.judge(observed, expected, case)
    assert finding is not None, "passed"
    return finding


def passes(check: Check, observed: Tree, expected: Tree | None = None, case: Case = CASE) -> None:
    finding = check.judge(observed, expected, case)
    assert finding is None, finding


NEARLY = np.float32(0.99999994)
"""1 with six digits."""


@for_each(
    ("check", "observed", "expected"),
    [
        (Value(value="f(x)", tol=1e-9), leaf(NEARLY), leaf(1)),
        (Value(value="f(x)", tol=1e-9), leaf([2, NEARLY]), leaf([2, 1])),
        (Value(value="f(x)", tol=1e-9), [leaf(NEARLY), leaf(2)], [leaf(1), leaf(2)]),
        (Same(same=("f(x)", "g(x)"), tol=1e-9), [leaf(1), leaf(NEARLY)], None),
        (Distribution(distribution="f(x)", is_="bernoulli(0.5)"), leaf([0, 1, NEARLY]), None),
        (Bounds(bounds="f(x)", least=1), leaf(NEARLY), None),
    ],
)
def test_a_number_is_shown_with_the_digits_by_which_it_is_wrong(
    check: Check, observed: Tree, expected: Tree
) -> None:
    finding = found(check, observed, expected)
    shown = (entry.actual for entry in finding.mismatch.entries) if finding.mismatch else ()
    assert "0.9999999" in " ".join([finding.message, *shown])


def test_texts_are_shortened_by_what_says_so() -> None:
    """A slice would end a message in the middle of an expression."""
    kinds_and_judge = [*Path("tutor/checks").glob("*.py"), Path("tutor/engine/judge.py")]
    sliced = re.compile(r"\[:\d{2,}\]")
    assert not [str(one) for one in kinds_and_judge if sliced.search(one.read_text())]
    long = " + ".join(["f(x)"] * 200)
    for check in (Bounds(bounds=long, least=1), Same(same=(long, "g(x)"))):
        message = found(check, leaf(0) if check.kind == "bounds" else [leaf(0), leaf(1)]).message
        assert len(message) < 600 and "…`" in message


# --- all kinds -----------------------------------------------------------------------------

ONE_OF_EACH: dict[str, Check] = {
    "value": Value(value="f(x)"),
    "shape": Shape(shape="f(x)", is_="float32[B]"),
    "grad": Grad(grad="f", at=("x",)),
    "vmap": Vmap(vmap="f", args=("x",), expect="f(x)"),
    "prng": Prng(prng="f(key)", independent=("leaves", "rows"), varies="all"),
    "distribution": Distribution(distribution="f(key)", is_="normal(0, 1)"),
    "same": Same(same=("f(x)", "g(x)")),
    "different": Different(different=("f(x)", "g(x)")),
    "permutation": Permutation(permutation="f(x)", expect="x"),
    "bounds": Bounds(bounds="f(x)", least=0, most="n - 1", order="ascending"),
    "pure": Pure(pure="f(x)"),
    "compiles": Compiles(compiles="f(x)"),
    "program": Program(
        program="f(x)",
        contains=("scan | while",),
        lacks=("cond",),
        steady={"x": "x[:2]"},
        donates=("x",),
        lives="split",
    ),
    "raises": Raises(raises="f(x)", error="ValueError", says="shape"),
    "predict": Predict(
        predict="What is `y`?", name="y", program="y = 3", gives="value", of="y", because="It is."
    ),
    "train": Train(train="t(x, y)", predict="p(trained, x)", accuracy=0.5),
    "learns": Learns(
        learns="t(x, y)", data="digits", predict="p(trained, x)", accuracy=0.5, below="reference"
    ),
    "train_step": TrainStep(
        train_step="s(p, o, x)",
        start={"p": "p", "o": "o"},
        finish="p",
        expect="e(x)",
        shard="shard",
        batch="x",
        steps=1,
    ),
}


def test_there_is_one_of_each_kind_here() -> None:
    assert set(ONE_OF_EACH) == set(kinds())


def observations_of(kind: str) -> st.SearchStrategy[Tree]:
    """Observations with nearly the structure that a kind expects."""
    tree = trees()
    some = st.one_of(st.lists(tree, max_size=3), tree)
    same = st.shared(tree, key="same")
    number = st.sampled_from([leaf(value, "int64", "int") for value in (0, 1, 2, -1)])
    fields: dict[str, dict[str, st.SearchStrategy[Any]]] = {
        "vmap": {"batched": tree, "one by one": some},
        "prng": {
            "uses": st.one_of(st.just(uses()), tree),
            "other uses": st.one_of(st.just(uses()), tree),
            "recorded": st.one_of(st.none(), some),
            "checker": st.one_of(st.just(""), tree),
            "shown": st.one_of(st.none(), st.just("yes")),
            "first": same,
            "again": st.one_of(same, tree),
            "other": tree,
            "others": st.one_of(st.just([]), some),
            "next": st.one_of(same, tree),
        },
        "pure": {
            "first": same,
            "again": st.one_of(same, tree),
            "inputs before": same,
            "inputs after": st.one_of(same, tree),
            "written": st.one_of(st.just([]), some),
            "leak": st.one_of(st.just(""), tree),
            "globals": some,
            "promises": st.one_of(st.just([]), some),
            "changed": st.one_of(st.just([]), some),
            "jitted": tree,
        },
        "program": {
            "operations": st.one_of(st.just(["scan"]), some),
            "size": st.one_of(number, tree),
            "other size": number,
            "longer": st.one_of(number, tree),
            "deleted": st.one_of(st.just(["x"]), some),
            "places": st.lists(st.one_of(tree, st.lists(st.text(max_size=3), min_size=2))),
            "value": same,
            "compiled": st.one_of(st.none(), st.lists(same, min_size=1, max_size=1), tree),
        },
        "predict": {"answer": tree},
        "raises": {
            "classes": st.one_of(st.just(["ValueError"]), some),
            "message": st.one_of(st.text(), tree),
        },
        "train_step": {
            "devices": st.one_of(number, tree),
            "batch": tree,
            "pieces": some,
            "steps": st.one_of(
                some,
                st.fixed_dictionaries(
                    {
                        "replicas": st.one_of(st.just([None]), some),
                        "loss": st.one_of(st.just([leaf(1.0)]), some),
                        "params": tree,
                        "optimizer before": tree,
                        "optimizer after": tree,
                    }
                ).map(lambda step: [step]),
            ),
        },
    }
    if kind in fields:
        return st.one_of(tree, st.fixed_dictionaries(fields[kind]))
    if kind == "compiles":
        calls = st.lists(st.one_of(tree, st.lists(st.text(max_size=3))))
        keys = {"calls": calls, "watched": same, "value": tree, "heard": tree}
        return st.one_of(tree, st.fixed_dictionaries(keys))
    if kind in ("same", "different"):
        return st.one_of(tree, st.lists(tree, min_size=2, max_size=2))
    shapes = st.sampled_from([(4,), (4, 2), (4, 0), (4, 2, 2), (), (0,), (3,)])
    predictions = st.one_of(tree, leaves(arrays(shapes=shapes)))
    if kind == "train":
        return st.one_of(tree, st.fixed_dictionaries({"predictions": predictions}))
    if kind == "learns":
        losses = st.sampled_from([leaf([2, 1, 0.5]), leaf([2, 1, 1.5]), leaf([2.0, np.nan, 1])])
        losses = st.one_of(losses, st.lists(leaves(arrays(shapes=st.just(()))), max_size=3), tree)
        keys = {"losses": losses, "predictions": predictions}
        return st.one_of(tree, st.fixed_dictionaries({}, optional=keys))
    return tree


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ONE_OF_EACH)
@settings(max_examples=60)
@given(data=st.data())
def test_any_observation_is_judged_or_raises_tree_error(kind: str, data: st.DataObject) -> None:
    check = ONE_OF_EACH[kind]
    expected: Tree = data.draw(trees(opaque=False))
    inputs: dict[str, Tree] = {}
    if kind == "train_step":
        inputs, expected = {"p": expected}, [(expected, leaf(1.0))]
    if kind == "prng":
        inputs = CASE.inputs
    if kind == "predict":
        expected = {"value": expected}
    if kind == "learns":
        expected = leaf([2.0, 1, 0.5])
    case = Case(0, {"B": 2, "n": 3}, (inputs,), Answers(np.arange(4), 4))
    observed = data.draw(observations_of(kind))
    finding: Finding | None = None
    try:
        finding = check.judge(observed, expected, case)
        note = check.note(observed, case) if finding is None else ""
        assert isinstance(note, str)
        check.unseen(observed, case)
        check.evidence_of(observed)
    except TreeError as error:
        assert str(error)  # noqa: PT017 - any observation may be refused, but with a message
    assert finding is None or finding.message


@for_each("kind", ONE_OF_EACH)
def test_requests_reveal_nothing_about_the_right_answer(kind: str) -> None:
    asked = ONE_OF_EACH[kind].observe()
    assert not {"least", "most", "order", "moved", "varies", "independent", "leaves"} & set(asked)
    assert not {"expect", "expected", "tol", "accuracy", "is", "is_", "at_most"} & set(asked)


# --- value and grad ------------------------------------------------------------------------


@pytest.mark.parametrize("check", [Value(value="f(x)"), Grad(grad="f", at=("x",))])
def test_a_value_equals_the_reference(check: Check) -> None:
    passes(check, {"a": leaf([1, 2])}, {"a": leaf([1, 2], kind="torch.Tensor")})
    finding = found(check, {"a": leaf([1, 2.5])}, {"a": leaf([1, 2], kind="torch.Tensor")})
    assert finding.message == (
        "['a']: largest difference 0.5 at [1]: expected 2, got 2.5 (1 of 2 elements differ)"
    )
    assert finding.mismatch is not None and finding.mismatch.where == (1,)


def test_the_tolerance_of_a_check_is_used() -> None:
    passes(Value(value="f(x)", tol=0.1), leaf([1.05]), leaf([1.0]))
    found(Value(value="f(x)"), leaf([1.05]), leaf([1.0]))
    passes(Grad(grad="f", at=("x",)), leaf([1.000015]), leaf([1.0]))
    found(Value(value="f(x)"), leaf([1.000015]), leaf([1.0]))
    # Twice that of the expected dtype.
    grad = Grad(grad="f", at=("x",))
    passes(grad, leaf([1.03], "bfloat16"), leaf([1.0], "bfloat16", "torch.Tensor"))
    found(grad, leaf([1.06], "bfloat16"), leaf([1.0], "bfloat16", "torch.Tensor"))
    found(grad, leaf([1.03], "bfloat16"), leaf([1.0], kind="torch.Tensor"))


def test_a_complex_gradient_is_the_conjugate_of_pytorch_s() -> None:
    grad = Grad(grad="f", at=("z",))
    passes(grad, {"z": leaf([1 - 2j], "complex64")}, {"z": leaf([1 + 2j], "complex64")})
    finding = found(grad, {"z": leaf([1 + 2j], "complex64")}, {"z": leaf([1 + 2j], "complex64")})
    assert "expected 1-2j, got 1+2j" in finding.message
    passes(Value(value="f(z)"), leaf([1 + 2j], "complex64"), leaf([1 + 2j], "complex64"))


def test_the_title_of_a_check_is_its_name_or_its_expression() -> None:
    assert Value(value="f(\n  x)").title == "value: f( x)"
    assert Grad(grad="f", at=("x",)).title == "gradient of f"
    assert Value(value="f(x)", name="mine").title == "mine"


# --- vmap ----------------------------------------------------------------------------------


def vmapped(batched: Tree, *each: Tree) -> Tree:
    return {"batched": batched, "one by one": list(each)}


def test_vmap_equals_one_call_per_example() -> None:
    check = Vmap(vmap="f", args=("x",))
    passes(check, vmapped(leaf([1, 2]), leaf(1), leaf(2)))
    finding = found(check, vmapped(leaf([1, 3]), leaf(1), leaf(2)))
    assert finding.message.startswith(
        "jax.vmap gives another result than one call per example: largest difference 1 at [1]"
    )


def test_vmap_equals_the_reference_for_the_batch() -> None:
    check = Vmap(vmap="f", args=("x",), expect="g(x)")
    passes(check, vmapped(leaf([1, 2]), leaf(1), leaf(2)), leaf([1, 2]))
    finding = found(check, vmapped(leaf([1, 2]), leaf(1), leaf(2)), leaf([1, 5]))
    assert finding.message.startswith("under jax.vmap: largest difference 3 at [1]: expected 5")


@pytest.mark.parametrize(
    ("axis", "shape"), [(0, (2, 3, 5)), (1, (3, 2, 5)), (-1, (3, 5, 2)), (-2, (3, 2, 5))]
)
def test_examples_are_stacked_along_out_axes(axis: int, shape: tuple[int, ...]) -> None:
    each = [leaf(np.random.default_rng(i).normal(size=(3, 5))) for i in range(2)]
    batched = np.stack([one.values for one in each], axis)
    assert batched.shape == shape
    passes(Vmap(vmap="f", args=("x",), out_axes=axis), vmapped(leaf(batched), *each))


def test_whole_trees_are_stacked() -> None:
    each: list[Tree] = [{"a": (leaf(i), None), "b": leaf([i, i])} for i in range(3)]
    stacked = stack(each, 0)
    assert isinstance(stacked, dict) and isinstance(stacked["a"], list)
    assert isinstance(stacked["b"], Leaf) and stacked["b"].values.shape == (3, 2)
    assert stacked["a"][1] is None
    assert stack([], 0) is None


@for_each(
    "each",
    [
        [leaf(1), leaf([1])],
        [leaf(1), {"a": leaf(1)}],
        [{"a": leaf(1)}, {"b": leaf(1)}],
        [[leaf(1)], []],
        [leaf(1), Leaf(None, "function f")],
        [leaf(1, "bfloat16"), leaf(1, "float16")],
    ],
)
def test_examples_of_different_kinds_raise_tree_error(each: list[Tree]) -> None:
    with pytest.raises(TreeError):
        stack(each, 0)


# --- shape ---------------------------------------------------------------------------------


@for_each(
    ("text", "spec"),
    [
        ("float32[B, 3]", ("float32", ("B", 3))),
        ("[B,3]", ("", ("B", 3))),
        (" int32 [ 7 ] ", ("int32", (7,))),
        ("float32[]", ("float32", ())),
        ("key[3]", ("key", (3,))),
        ("[3,]", ("", (3,))),
    ],
)
def test_specs_are_parsed(text: str, spec: tuple[str, tuple[int | str, ...]]) -> None:
    assert parse_spec(text) == spec


@for_each(
    "text",
    ["", "float32", "float32[3", "float32 3]", "[3]x", "[-1]", "[2.5]", "[²]", "[B+1]", "[9" * 9,
     "[" + "9" * 5000 + "]", "[a b]", "[[3]]"],
)  # fmt: skip
def test_invalid_specs_are_refused(text: str) -> None:
    with pytest.raises(TreeError):
        parse_spec(text)


@given(st.text(max_size=20).map(lambda inside: f"x[{inside}]"))
def test_any_text_is_parsed_or_refused_as_a_spec(text: str) -> None:
    try:
        _, dimensions = parse_spec(text)
    except TreeError as error:
        assert str(error)  # noqa: PT017 - either will do
    else:
        assert all(isinstance(one, int | str) for one in dimensions)


SPEC = Shape(shape="f(x)", is_={"w": "float32[B, 3]", "b": ["[n]", "int32[]"]})


def answer(**changes: Tree) -> Tree:
    return {"w": leaf(np.zeros((7, 3))), "b": (leaf([0, 0], "int8"), leaf(0, "int32")), **changes}


@for_each(
    ("observed", "kind", "message"),
    [
        (answer(w=leaf(np.zeros((3, 7)))), "shape",
         "['w']: shape (3, 7), expected (7, 3): the axes are swapped"),
        (answer(w=leaf(np.zeros((7, 3)), "float16")), "dtype",
         "['w']: dtype float16, expected float32"),
        (answer(w=leaf(np.zeros((7, 3)), kind="numpy.ndarray")), "type",
         "['w']: found numpy.ndarray, expected a jax.Array"),
        (answer(w=leaf(1, kind="float")), "type", "['w']: found float, expected a jax.Array"),
        (answer(w=None), "type", "['w']: found None, expected a jax.Array"),
        (answer(w=Leaf(None, "function f")), "type", "['w']: found function f, expected a jax.A"),
        (answer(w=leaf(np.zeros((7, 3, 2)), "uint32", "key")), "dtype",
         "['w']: dtype key, expected float32"),
        (answer(b=[leaf([0, 0])]), "structure", "['b']: found [float32[2]], expected 2 items"),
        (answer(b=leaf(0)), "structure", "['b']: found float32[], expected 2 items"),
        (answer(c=leaf(0)), "structure", "found {'w': float32[7, 3], 'b': (int8[2], int32[]), 'c'"),
        ([leaf(0)], "structure", "found [float32[]], expected a dict with the keys ['b', 'w']"),
    ],
)  # fmt: skip
def test_wrong_shapes_dtypes_types_and_structures_are_named(
    observed: Tree, kind: str, message: str
) -> None:
    finding = found(SPEC, observed)
    assert finding.message.startswith(message)
    assert finding.mismatch is not None and finding.mismatch.kind == kind


def test_right_shapes_pass_with_any_dtype_if_none_is_given() -> None:
    passes(SPEC, answer())
    passes(SPEC, answer(b=[leaf([0, 0], "bfloat16"), leaf(0, "int32")]))


def test_shape_and_dtype_may_come_from_the_reference() -> None:
    check = Shape(shape="f(x)")
    torch = {
        "x": leaf(np.zeros((2, 3)), "float64", "torch.Tensor"),
        "n": leaf(0, "int64"),
        "o": None,
    }
    passes(check, {"x": leaf(np.ones((2, 3))), "n": leaf(5, "int32"), "o": None}, torch)
    finding = found(check, {"x": leaf(np.ones((2, 3))), "n": leaf(5), "o": None}, torch)
    assert finding.message == "['n']: dtype float32, expected int32"
    finding = found(check, {"x": leaf(np.ones((2, 3))), "n": leaf(5, "int32"), "o": leaf(0)}, torch)
    assert finding.message == "['o']: found float32[], expected None"


def test_wider_dtypes_pass_under_x64() -> None:
    passes(SPEC, answer(w=leaf(np.zeros((7, 3)), "float64")))
    found(SPEC, answer(w=leaf(np.zeros((7, 3)), "float64", "numpy.ndarray")))
    found(Shape(shape="f(x)", is_="float32[7]"), leaf(np.zeros(7), "int64"))


LEAVES = Shape(shape="f(x)", leaves=("float32[B, 3]", "float32[3]", "[n]", "[n]"))


def layers(*shapes: tuple[int, ...]) -> Tree:
    return {f"layer {i}": [leaf(np.zeros(shape))] for i, shape in enumerate(shapes)}


def test_leaves_match_in_any_order_and_structure() -> None:
    passes(LEAVES, layers((3,), (2,), (7, 3), (2,)))
    passes(LEAVES, list(layers((2,), (7, 3), (2,), (3,)).values()))  # type: ignore[union-attr]
    finding = found(LEAVES, layers((3,), (2,), (3, 7)))
    assert finding.message == (
        "3 arrays, expected 4: missing float32[7, 3], [2]; unexpected ['layer 2'][0] float32[3, 7]"
    )
    finding = found(LEAVES, layers((3,), (2,), (7, 3), (2,), (2,)))
    assert finding.message == "5 arrays, expected 4: unexpected ['layer 4'][0] float32[2]"
    assert found(LEAVES, None).message.startswith("0 arrays, expected 4: missing float32[7, 3], fl")


def test_the_shape_of_keys_excludes_their_raw_data() -> None:
    check = Shape(shape="f(key)", is_="key[3]")
    passes(check, leaf(np.zeros((3, 2)), "uint32", "key"))
    finding = found(check, leaf(np.zeros((4, 2)), "uint32", "key"))
    assert finding.mismatch is not None
    assert finding.mismatch.actual == Side("key", (4,), "key")


# --- pure ----------------------------------------------------------------------------------


def pure_answer(**changes: Tree) -> dict[str, Tree]:
    value = {"y": leaf([1, 2])}
    inputs = {"x": leaf([3, 4])}
    answer: dict[str, Tree] = {
        "first": value,
        "again": value,
        "inputs_before": inputs,
        "inputs_after": inputs,
        "written": [],
        "promises": [],
        "changed": [],
        "leak": "",
        "globals": [],
        "jitted": value,
        **changes,
    }
    return {name.replace("_", " "): tree for name, tree in answer.items()}


@for_each(
    ("changes", "message"),
    [
        ({"again": {"y": leaf([1, 2.001])}},
         "two calls with the same inputs gave different results: ['y']: largest difference"),
        ({"inputs_after": {"x": leaf([3, 5])}}, "the call changed its inputs: ['x']: largest"),
        ({"inputs_after": {"x": leaf([3, 4]), "z": leaf(0)}}, "the call changed its inputs: found"),
        ({"written": ["`step` writes into its argument `state`, at ['w']"]},
         "`step` writes into its argument `state`, at ['w']: return a new value instead"),
        ({"promises": ["line 3: `unique_indices=True` is promised for [1, 1]"]},
         "line 3: `unique_indices=True` is promised for [1, 1]: the result is undefined"),
        ({"changed": ["count"]},
         "the call changes the global 'count'. Under jit that happens once, during tracing"),
        ({"leak": "it is kept in the global `cache`"},
         "a tracer escaped from the function: it is kept in the global `cache`. Return the value"),
        ({"globals": ["state"]},
         "a tracer escaped from the function into the global 'state': return the value instead"),
        ({"jitted": {"y": leaf([1, 3])}}, "under jax.jit the result is different: ['y']: largest"),
        ({"leak": "x" * 9999}, "a tracer escaped from the function: xxx"),
    ],
)  # fmt: skip
def test_every_impurity_has_its_own_message(changes: dict[str, Tree], message: str) -> None:
    finding = found(Pure(pure="f(x)"), pure_answer(**changes))
    assert finding.message.startswith(message)
    assert len(finding.message) < 1000


def test_a_pure_function_passes_with_and_without_jit() -> None:
    passes(Pure(pure="f(x)"), pure_answer())
    eager = pure_answer()
    for name in ("leak", "globals", "jitted", "changed"):
        del eager[name]
    passes(Pure(pure="f(x)", jit=False), eager)
    with pytest.raises(TreeError):
        Pure(pure="f(x)").judge(eager, None, CASE)


def test_a_permutation_keeps_the_rows_of_all_arrays_together() -> None:
    check = Permutation(permutation="f(x)", expect="x")
    examples = leaf([[1, 10], [2, 20], [3, 30]])
    labels = leaf([1, 2, 3])
    expected: Tree = (examples, labels)
    order = [2, 0, 1]
    moved = leaf(examples.values[order])
    passes(check, (moved, leaf(labels.values[order])), expected)
    apart = found(check, (moved, leaf(labels.values[[1, 2, 0]])), expected)
    assert "in different orders, so their rows no longer belong together" in apart.message
    assert "original order" in found(check, expected, expected).message
    lost = found(
        check, (leaf(examples.values[[2, 0, 0]]), leaf(labels.values[[2, 0, 0]])), expected
    )
    assert lost.message.startswith("1 of 3 rows are not among those expected")


def test_nan_equals_nothing_in_same_and_different() -> None:
    check = Same(same=("f(x)", "g(x)"))
    nan = [leaf(np.float32([1, 2])), leaf(np.float32([[3, 4], [np.nan, 5]]))]
    assert found(check, [nan, nan]).message == "`f(x)` is NaN at [1][1, 0]"
    coarse = leaf(np.asarray([1, np.nan], ml_dtypes.bfloat16))
    assert found(check, [coarse, coarse]).message == "`f(x)` is NaN at [1]"


def test_nan_equals_nan_in_two_calls() -> None:
    nan = {"y": leaf([np.nan, 2])}
    passes(Pure(pure="f(x)"), pure_answer(first=nan, again=nan, jitted=nan))


# --- bounds --------------------------------------------------------------------------------


@for_each(
    ("answer", "message"),
    [
        (leaf(9), "`f(x)` is 9, which is above 1"),
        ([leaf(0), leaf(-1)], "`f(x)`[1] is -1, which is below 0"),
        (leaf([0, 1.0000001]), "`f(x)`: 1.0000001 at [1] is above 1 (1 of 2 numbers are)"),
        (leaf(np.nan), "`f(x)` is nan, which is not finite"),
        (leaf([1, 0.99999994]), "`f(x)` is not in ascending order: 1 at [0], then 0.9999999"),
    ],
)
def test_a_number_out_of_bounds_is_named_with_the_digit_that_decides(
    answer: Tree, message: str
) -> None:
    assert found(ONE_OF_EACH["bounds"], answer).message.startswith(message)


# --- compiles ------------------------------------------------------------------------------


@for_each(
    ("at_most", "calls", "message"),
    [
        (1, [["jit_step"], [], []], None),
        (1, [[], [], []], None),
        (2, [["a"], ["b"], []], None),
        (3, [["a", "b", "c"], [], []], None),
        (1, [["a", "b", "c", "d", "e", "f"], [], []],
         "the first call compiled 6 programs (a, b, c, d and 2 more), expected at most 1 program"),
        (1, [["add", "add"], []],
         "the first call compiled 2 programs (add 2 times), expected at most 1 program: each fun"),
        (1, [["step"], [], ["step"]],
         "2 compilations in 3 calls, expected at most 1 program: 1 later call compiled again (ste"),
        (2, [["step"], ["step"], ["step"], ["step"]],
         "4 compilations in 4 calls, expected at most 2 programs: 3 later calls compiled again"),
    ],
)  # fmt: skip
def test_compilations_are_counted(
    at_most: int, calls: list[list[str]], message: str | None
) -> None:
    check = Compiles(compiles="step(x)", at_most=at_most, calls=len(calls))
    series: Tree = [list(names) for names in calls]
    observed: Tree = {"calls": series, "watched": leaf(1.0), "value": leaf(1.0)}
    if message is None:
        passes(check, observed)
        finding = found(check, {**observed, "watched": leaf(0.0)})
        assert finding.code == "other-when-observed"
    else:
        assert found(check, observed).message.startswith(message)


# --- prng ----------------------------------------------------------------------------------


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def drawn(first: Tree, **changes: Tree) -> Tree:
    other = {"a": leaf(random(8, 32, seed=901)), "b": leaf(random(8, 32, seed=902))}
    observed: dict[str, Tree] = {
        "uses": uses(),
        "other uses": uses(),
        "recorded": None,
        "checker": "",
        "others": [],
        "next": other,
    }
    return {**observed, "first": first, "again": first, "other": other, **changes}


def test_counted_keys_recur_for_the_next_seed():
    one, two = (leaf(random(8, 32, seed=seed)) for seed in (1, 2))
    table = leaf(np.sin(np.arange(64.0).reshape(8, 8)))
    first = {"a": one, "b": two, "c": table, "d": table, "e": leaf(np.ones((9, 9)))}
    counted = {**first, "a": two, "b": leaf(random(8, 32, seed=3))}
    assert Prng(prng="f(key)").judge(drawn(first), None, CASE) is None
    finding = Prng(prng="f(key)").judge(drawn(first, next=counted), None, CASE)
    assert finding is not None
    assert "result['b'] for one key equals result['a'] for the next one" in finding.message


TWO = {"a": leaf(random(8, 32, seed=1)), "b": leaf(random(8, 32, seed=2))}
STRICT = Prng(prng="f(key)", independent=("leaves", "rows"), varies="all")
LAX = Prng(prng="f(key)")


def test_independent_draws_pass() -> None:
    passes(STRICT, drawn(TWO))


@for_each(
    ("changes", "message"),
    [
        ({"uses": uses((0, 3, 0), (0, 5, 1))},
         "key used twice: lines 3 and 5 draw from the same key"),
        ({"recorded": [{**TWO, "b": leaf(random(8, 32, seed=3))}]},
         "the call gives something else when it is run without jit, as to record its keys: "),
        ({"checker": "key consumed twice"},
         "key used twice: jax.debug_key_reuse reports: key consumed twice"),
        ({"again": {**TWO, "b": leaf(random(8, 32, seed=3))}},
         "the same key gave two different results"),
        ({"other": {**TWO, "b": leaf(random(8, 32, seed=3))}},
         "result['a'] is the same for two different keys"),
        ({"other": TWO}, "nothing in the result depends on the key"),
    ],
)  # fmt: skip
def test_every_misuse_of_a_key_has_its_own_message(changes: dict[str, Tree], message: str) -> None:
    assert found(STRICT, drawn(TWO, **changes)).message.startswith(message)


def test_leaves_from_one_key_fail() -> None:
    """Two draws from one key start with the same bits, whatever their shapes."""
    stream = random(4096)
    one, other = leaf(stream[:256].reshape(8, 32)), leaf(stream[:320].reshape(5, 64) * 0.1)
    fresh = {"a": leaf(random(8, 32, seed=7)), "b": leaf(random(5, 64, seed=8))}
    finding = found(LAX, drawn({"a": one, "b": other}, other=fresh))
    assert finding.message == (
        "result['a'] and result['b'] are not independent draws (rank correlation 1.000 of their "
        "first 256 numbers): both come from the same key, or one from the other"
    )


def test_rows_from_one_key_fail() -> None:
    rows = random(8, 32)
    rows[3] = rows[1]
    check = Prng(prng="f(key)", independent=("rows",))
    finding = found(check, drawn({"a": leaf(rows), "b": leaf(random(8, 32, seed=5))}))
    assert finding.message.startswith("row 1 of result['a'] and row 3 of result['a'] are not indep")
    passes(LAX, drawn({"a": leaf(rows), "b": leaf(random(8, 32, seed=5))}))


def test_rows_and_columns_made_from_others_fail() -> None:
    other = {"a": leaf(random(70, 90, seed=5)), "b": leaf(random(90, seed=6))}
    half = random(35, 90)
    mirrored = {"a": leaf(np.concatenate([half, -half])), "b": leaf(random(90, seed=2))}
    message = found(STRICT, drawn(mirrored, other=other)).message
    assert message.startswith("row ") and "(rank correlation -1.000 of their first 90" in message
    broadcast = random(70, 1) + np.zeros((70, 90), np.float32)
    message = found(STRICT, drawn({**mirrored, "a": leaf(broadcast)}, other=other)).message
    assert message.startswith("column 0 of result['a'] and column 1 of result['a'] are not")
    w = random(70, 90, seed=3)
    last_row = {"a": leaf(w), "b": leaf(-w[-1])}
    message = found(LAX, drawn(last_row, other=other)).message
    assert message.startswith("row 69 of result['a'] and result['b'] are not independent draws")
    passes(LAX, drawn(mirrored, other=other))


def test_a_choice_among_few_seeds_fails() -> None:
    results: list[Tree] = [leaf(random(8, 32, seed=k % 9)) for k in range(12)]
    first, other, *others = results
    finding = found(STRICT, drawn(first, other=other, others=others))
    assert finding.message == (
        "two of 12 different keys gave the same result: it must depend on the whole key"
    )
    coins: list[Tree] = [
        {"coin": leaf(random(3, seed=k) > 0, "bool"), "table": leaf(sinusoids())} for k in range(12)
    ]
    first, other, *others = coins
    passes(LAX, drawn(first, other=other, others=others))


def test_permuted_draws_fail() -> None:
    a, b = random(8, 32), random(8, 32, seed=901)
    finding = found(
        LAX, drawn({"a": leaf(a), "b": leaf(a[::-1])}, other={"a": leaf(b), "b": leaf(b[::-1])})
    )
    assert finding.message == "result['a'] and result['b'] hold the same numbers in another order"


def sinusoids() -> Any:
    at = np.arange(32)[:, None] / 10000 ** (np.arange(16) / 16)
    return np.concatenate([np.sin(at), np.cos(at)], axis=1).astype(np.float32)


def test_constant_tables_among_parameters_pass() -> None:
    """Every transformer has sinusoidal positions and a causal mask."""
    tables: dict[str, Tree] = {
        "positions": leaf(sinusoids()),
        "again": leaf(sinusoids()),
        "mask": leaf(np.tri(32), "bool"),
    }
    check = Prng(prng="f(key)", independent=("leaves", "rows"))
    passes(check, drawn({**TWO, **tables}, other={"a": leaf(random(8, 32, seed=3)),
        "b": leaf(random(8, 32, seed=4)), **tables}))  # fmt: skip


def test_a_table_drawn_from_a_fixed_key_fails() -> None:
    drawn_once = {**TWO, "b": leaf(random(8, 32, seed=3))}
    other = {**drawn_once, "a": leaf(random(8, 32, seed=4))}
    passes(LAX, drawn(drawn_once, other=other))
    finding = found(
        LAX,
        drawn(drawn_once, other=other, **{"uses": uses((0, 7, 0)), "other uses": uses((0, 7, 0))}),
    )
    assert finding.message == "line 7 draws from a key that does not depend on `key`"


@pytest.mark.parametrize(
    ("varies", "told"),
    [
        ("some", "nothing in the result depends on the key"),
        ("kernels", "all numbers of result['v'] are the same"),
        ("all", "all numbers of result['b'] are the same"),
    ],
)
def test_arrays_that_must_be_random_are(varies: Any, told: str) -> None:
    check = Prng(prng="f(key)", varies=varies)
    zeros: dict[str, Tree] = {"b": leaf(np.zeros(2100)), "w": leaf(np.zeros((99, 2)))}
    right = {**zeros, "w": leaf(random(99, 2))}
    others = {**zeros, "w": leaf(random(99, 2, seed=2))}
    if varies == "all":
        assert found(check, drawn(right, other=others)).message == told
    else:
        passes(check, drawn(right, other=others))
    if varies == "some":
        assert found(check, drawn(zeros, other=zeros, recorded=[zeros])).message == told
        finding = found(check, drawn(zeros, other=zeros))
        assert finding.message.startswith("nothing in the result is random")
        frozen = {**zeros, "w": leaf(random(99, 2))}
        assert found(check, drawn(frozen, other=frozen)).message == told
    if varies == "kernels":
        constant = {"v": leaf(np.full((3, 2), 0.5))}
        wrong = drawn({**right, **constant}, other={**others, **constant})
        assert found(check, wrong).message == told


def test_small_arrays_and_keys_need_not_look_random() -> None:
    key, other_key = (leaf(np.full((9, 2), i), "uint32", "key") for i in (1, 2))
    tree = {"c": leaf([1, 2, 3], "int32"), "d": leaf([1, 2, 3], "int32"), "k": key, "l": key}
    passes(STRICT, drawn(tree, other={**tree, "k": other_key, "l": other_key}))


def masks(shape: tuple[int, ...], keep: float, seed: int) -> Any:
    return np.random.default_rng(seed).random(shape) < keep


@for_each("keep", [0.5, 0.9, 0.99])
@for_each("shape", [(3,), (16,), (16, 16), (64, 128)])
@for_each("name", ["bool", "float32", "int32"])
def test_masks_pass(shape: tuple[int, ...], keep: float, name: str) -> None:
    """Small masks are often equal for two keys, and mostly equal for any two."""
    for seed in range(200 if len(shape) == 1 else 8):
        pair = [masks(shape, keep, 4 * seed + i) for i in range(4)]
        first, other = (
            {"a": leaf(a / keep, name), "b": leaf(b / keep, name)} for a, b in (pair[:2], pair[2:])
        )
        passes(STRICT, drawn(first, other=other))


HEAVY = {
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
    "student": lambda rng, shape: rng.standard_t(1.5, shape),
    "lognormal": lambda rng, shape: np.exp(5 * rng.normal(size=shape)),
    "zipf": lambda rng, shape: rng.zipf(1.5, shape).clip(max=1e9),
    "poisson": lambda rng, shape: rng.poisson(0.2, shape),
    "walk": lambda rng, shape: rng.normal(size=shape).cumsum(-1),
    "sorted": lambda rng, shape: np.sort(rng.normal(size=shape)),
    "positive and scaled": lambda rng, shape: (
        rng.exponential(size=shape) * np.arange(1, shape[-1] + 1)
    ),
    "masked": lambda rng, shape: rng.exponential(size=shape) * np.tri(*shape),
}


@for_each("draw", HEAVY)
def test_heavy_tails_ties_and_structure_pass(draw: str) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        first, other = (
            {"a": leaf(HEAVY[draw](rng, (16, 64))), "b": leaf(HEAVY[draw](rng, (16, 64)))}
            for _ in range(2)
        )
        passes(STRICT, drawn(first, other=other))


def test_both_parts_of_complex_draws_are_compared() -> None:
    one, two, three, four = (
        leaf(random(64, seed=2 * i) + 1j * random(64, seed=2 * i + 1), "complex64")
        for i in range(4)
    )
    other: Tree = {"a": three, "b": four}
    passes(LAX, drawn({"a": one, "b": two}, other=other))
    found(LAX, drawn({"a": one, "b": one}, other=other))


# --- the ledger of keys --------------------------------------------------------------------


def ledger(
    uses: dict[tuple[int, ...], list[Use]], origins: dict[tuple[int, ...], list[Use]] | None = None
) -> Ledger:
    made = Ledger()
    made.uses.update(uses)
    made.origins.update(origins or {})
    return made


def bits(line: int, call: int) -> Use:
    return Use("random_bits", line, call)


def split(line: int, call: int) -> Use:
    return Use("random_split", line, call, key=(0, 1))


def fold(line: int, call: int, data: int) -> Use:
    return Use("random_fold_in", line, call, data, key=(0, 1))


@for_each(
    ("uses", "told"),
    [
        ([], []),
        ([bits(3, 0)], []),
        ([split(3, 0)], []),
        ([split(3, 0), split(4, 1)], []),
        ([bits(3, 0), bits(3, 0), bits(3, 0)], []),  # poisson draws repeatedly within one call
        ([fold(3, 0, 1), fold(4, 1, 2)], []),
        ([bits(3, 0), bits(5, 1)], ["lines 3 and 5 draw from the same key"]),
        ([bits(3, 0), bits(5, 1), bits(9, 2)], ["lines 3, 5 and 9 draw from the same key"]),
        ([bits(3, 0), bits(3, 1)], ["line 3 draws 2 times from the same key"]),
        ([bits(3, 0), split(4, 1)],
         ["line 3 draws from the key that line 4 splits: draw from its children only"]),
        ([split(4, 0), bits(6, 1)],
         ["line 6 draws from the key that line 4 splits: draw from its children only"]),
        ([split(4, 0), bits(4, 0)], []),  # a sampler that splits its own key
        ([fold(3, 0, 7), fold(4, 1, 7)], []),  # the children may be used once
    ],
)  # fmt: skip
def test_the_uses_of_one_key_are_described(uses: list[Use], told: list[str]) -> None:
    assert reused(ledger({(0, 1): uses})) == told


def test_a_parent_split_twice_is_blamed_not_its_children() -> None:
    """`make_layer(key)` splits the key, and so does the loop around it."""
    children = {(0, 2): [bits(10, 3), split(9, 4)], (0, 3): [bits(11, 5)]}
    origins = {(0, 2): [split(9, 0), split(20, 1)], (0, 3): [split(9, 0)]}
    assert reused(ledger(children, origins)) == [
        "lines 9 and 20 split the same key: the children are the same each time"
    ]
    origins = {(0, 2): [split(20, 0), split(20, 1)]}
    assert reused(ledger(children, origins)) == [
        "line 20 splits the same key 2 times: the children are the same each time"
    ]
    assert reused(ledger({(0, 2): [bits(10, 3)]}, origins)) == []  # the children are not used twice


def test_a_key_is_drawn_from_or_folded_into_but_not_both() -> None:
    (told,) = reused(ledger({(0, 1): [bits(3, 0), fold(8, 1, 7)]}))
    assert told.startswith("line 3 draws from the key that line 8 folds a number into: draw from")


def test_different_keys_are_independent() -> None:
    other = {(0, 1): [bits(3, 0)], (0, 2): [bits(3, 1)], (0, 3): [split(3, 2)]}
    assert reused(ledger(other)) == []


def test_equal_messages_appear_once_and_at_most_five_in_all() -> None:
    loop = {(0, n): [bits(3, 2 * n), bits(4, 2 * n + 1)] for n in range(50)}
    assert reused(ledger(loop)) == ["lines 3 and 4 draw from the same key"]
    many = {(0, n): [bits(n, 0), bits(n + 50, 1)] for n in range(50)}
    assert len(reused(ledger(many))) == 5


# --- train ---------------------------------------------------------------------------------

TRAIN = Train(train="t(x, y)", predict="p(trained, x)", accuracy=0.75)
LABELS = np.array([0, 1, 2, 1], np.int32)
TRAINED = Case(0, {}, ({},), Answers(LABELS, 10))


def given(predictions: Tree) -> Tree:
    return {"predictions": predictions}


def scores(labels: list[int]) -> Any:
    return np.eye(3, dtype=np.float32)[labels]


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_scores_and_labels_give_the_same_accuracy(name: str) -> None:
    for right in (leaf(scores([0, 1, 2, 1]), name), leaf(LABELS, "int32"), leaf(LABELS, name)):
        passes(TRAIN, given(right), case=TRAINED)
        assert TRAIN.note(given(right), TRAINED) == "accuracy 1.000 on 4 held-out digits"
    for enough in (leaf(scores([0, 1, 2, 0]), name), leaf([0, 1, 2, 0], "int32")):
        passes(TRAIN, given(enough), case=TRAINED)
    for few in (leaf(scores([0, 1, 1, 0]), name), leaf([0, 1, 1, 0], name)):
        finding = found(TRAIN, given(few), case=TRAINED)
        assert finding.message == "accuracy 0.500 on 4 held-out digits, expected at least 0.75"


@for_each(
    ("observed", "message"),
    [
        (
            leaf(np.full((4, 3), np.nan)),
            "the predictions contain NaN or infinity, as when training",
        ),
        (leaf([[0, 0, np.inf]] * 4), "the predictions contain NaN or infinity, as when training"),
        (leaf([0, 1, 2]), "predictions of shape (3,) for 4 examples; expected scores (4, 10) or"),
        (leaf(scores([0, 1, 2])), "predictions of shape (3, 3) for 4 examples"),
        (leaf(scores([0, 1, 2, 1]).T), "predictions of shape (3, 4) for 4 examples"),
        (leaf(np.zeros((4, 3, 1))), "predictions of shape (4, 3, 1) for 4 examples"),
        (leaf(np.zeros((4, 0))), "predictions of shape (4, 0) for 4 examples"),
        (leaf(0.0), "predictions of shape () for 4 examples"),
    ],
)
def test_invalid_predictions_have_a_message(observed: Tree, message: str) -> None:
    assert found(TRAIN, given(observed), case=TRAINED).message.startswith(message)


@for_each(
    "observed", [None, "0", {"a": leaf(0)}, Leaf(None, "function f"), leaf(LABELS, "complex64")]
)
def test_predictions_that_are_not_arrays_raise_tree_error(observed: Tree) -> None:
    with pytest.raises(TreeError):
        TRAIN.judge(given(observed), None, TRAINED)


def test_held_out_labels_are_secret_and_rows_depend_on_the_seed() -> None:
    inputs, secret = TRAIN.extra_inputs((1, 2))
    x, y, held = inputs["x"], inputs["y"], inputs["held out"]
    assert isinstance(x, Leaf) and isinstance(y, Leaf) and isinstance(held, Leaf)
    assert (len(x.values), len(y.values), len(held.values)) == (1437, 1437, 360)
    assert secret.labels.shape == (360,) and set(secret.labels) == set(range(10))
    assert secret.classes == 10
    kept = {row.tobytes() for row in x.values}
    assert not any(row.tobytes() in kept for row in held.values)
    _, again = TRAIN.extra_inputs((1, 2))
    _, other = TRAIN.extra_inputs((1, 3))
    assert (secret.labels == again.labels).all() and (secret.labels != other.labels).any()


TARGETS = Case(0, {}, ({},), Answers(np.array([1.0, 2, 3, 4], np.float32), 0))


def test_the_error_of_predicted_targets_is_judged() -> None:
    train = Train(train="t(x, y)", predict="p(trained, x)", data="plane(99, 2)", error=0.25)
    passes(train, given(leaf([1, 2, 3, 3])), case=TARGETS)
    assert (
        train.note(given(leaf([1, 2, 3, 3])), TARGETS)
        == "mean squared error 0.25 on 4 held-out plane"
    )
    finding = found(train, given(leaf([1, 2, 3, 2.5], "bfloat16")), case=TARGETS)
    assert finding.message == (
        "mean squared error 0.5625 on 4 held-out plane, expected at most 0.25"
    )
    finding = found(train, given(leaf([[1], [2], [3], [4]])), case=TARGETS)
    assert finding.message == "predictions of shape (4, 1) for 4 examples; expected (4,)"


# --- learns --------------------------------------------------------------------------------

CURVE = leaf([4.0, 2, 1, 0.5, 0.25, 0.125], "float64", "torch.Tensor")
LEARNS = Learns(learns="t(x)", first=3, below="reference * 2")


def learnt(*losses: float) -> dict[str, Tree]:
    return {"losses": leaf(losses)}


def test_the_first_losses_are_compared_and_the_last_is_bounded() -> None:
    passes(LEARNS, learnt(4, 2, 1, 0.5, 0.25, 0.125), CURVE)
    passes(LEARNS, learnt(4.0003, 2, 1, 99, 99, 0.25), CURVE)
    passes(LEARNS, {"losses": [leaf(value) for value in CURVE.values]}, CURVE)
    note = LEARNS.note(learnt(4, 2, 1, 99, 99, 0.25), CASE)
    assert note == "6 losses, from 4 to 0.25"
    for losses in ((4, 2, 1.0005), (4.0005, 2, 1)):
        found(LEARNS, learnt(*losses, 0.5, 0.25, 0.125), CURVE)
    finding = found(LEARNS, learnt(4, 2, 1, 0.5, 0.4, 0.3), CURVE)
    assert finding.message == (
        "the last loss is 0.3, expected at most 0.25 (PyTorch's is 0.125); the losses leave "
        "PyTorch's at step 4"
    )
    exact = replace(LEARNS, first=10_000, below=None)
    passes(exact, learnt(4, 2, 1, 0.5, 0.25, 0.125), CURVE)
    found(exact, learnt(4, 2, 1, 0.5, 0.25, 0.126), CURVE)


@for_each(
    ("below", "right", "lowest"),
    [
        ("reference * 1.01", 0.125, 0.0625),  # half of it
        ("reference * 4", 0.125, 0.03125),  # a quarter
        ("reference * 1.5 + 0.5", 0.125, 0.125**2 / 0.6875),
        (1.0, 0.125, 0.125**2),
        ("reference + 0.5", -2.0, -3.0),
        ("reference + 3", -2.0, -5.0),
        ("reference * 2", 1e-9, 0.0),  # rounding cannot tell it from 0
    ],
)
def test_a_last_loss_that_no_training_reaches_is_found(
    below: float | str, right: float, lowest: float
) -> None:
    check = replace(LEARNS, below=below)
    curve = leaf([4.0, 2, 1, 0.5, 0.25, right], "float64", "torch.Tensor")
    for last in (right, right - 1e-6, lowest):
        passes(check, learnt(4, 2, 1, 0.5, 0.25, last), curve)
    if lowest:
        finding = found(check, learnt(4, 2, 1, 0.5, 0.25, lowest - 0.005), curve)
        assert f"far below PyTorch's {right:g} on the same batch" in finding.message
    passes(replace(check, below=None), learnt(4, 2, 1, 0.5, 0.25, 0), curve)


@for_each(
    ("losses", "words"),
    [
        ([8.0, 2, 1, 1, 1, 1], "step 0 is 8, expected 4: that is 2 times as much"),
        ([2.0, 3, 1, 1, 1, 1], "step 0 is 2, expected 4: PyTorch's is 2 times as much"),
        ([2.0, 1, 0.5, 0.25, 0.125, 0], "which is PyTorch's loss at step 1: the losses are"),
        ([3.3, 2, 1, 1, 1, 1], "step 0 is 3.3, expected 4, before any update: the loss function"),
        ([4.0, 4, 4, 4, 4, 4], "the loss is the same at every step, 4, expected 2 at step 1: the"),
        ([4.0, 8, 9, 9, 9, 9], "step 1 is 8, expected 2: the loss rises from 4, where PyTorch's"),
        ([4.0, 3, 1, 1, 1, 1], "step 1 is 3, expected 2; step 0, before any update, agrees. So"),
        ([4.0, 2, 1.5, 1, 1, 1], "step 2 is 1.5, expected 1; steps 0 to 1 agree, after one update"),
        ([np.nan] * 6, "the loss is NaN at step 0, before any update"),
        ([4.0, 2, np.inf, 1, 1, 1], "the loss is infinite at step 2, after 2: the training"),
        ([4.0, 2, 1, 0.5, np.nan, 1], "the loss is NaN at step 4, after 0.5: the training"),
        ([4.0, 3, 1, np.nan, 1, 1], "step 1 is 3, expected 2; step 0"),
        ([4.0, 2, 1], "3 losses, expected 6: one for each step of PyTorch's training"),
        ([], "0 losses, expected 6: one for"),
    ],
)  # fmt: skip
def test_the_first_step_that_differs_says_why(losses: list[float], words: str) -> None:
    assert words in found(LEARNS, {"losses": leaf(losses)}, CURVE).message


@for_each(
    ("losses", "words"),
    [
        (leaf(4.0), "one loss, expected 6: one for each step"),
        (leaf(np.zeros((6, 1))), "losses of shape (6, 1), expected (6,): one number for each step"),
        ([leaf([4.0])] * 6, "float32[1] as the loss of step 0, expected 6: one for"),
        ([leaf(4.0), None], "None as the loss of step 1, expected 6: one for"),
        ({"w": leaf(4.0)}, "comes first, expected 6 losses: return (losses, trained)"),
        (Leaf(None, "function f"), "function f, expected 6: one for"),
        (leaf([4.0] * 6, "complex64"), "complex64[6], expected 6: one for"),
        (None, "None, expected 6: one for"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_losses_is_told(losses: Tree, words: str) -> None:
    assert words in found(LEARNS, {"losses": losses}, CURVE).message


def test_predictions_are_judged_once_the_losses_are_right() -> None:
    check = Learns(learns="t(x, y)", data="digits", predict="p(trained, x)", accuracy=0.75)
    right = leaf(scores([0, 1, 2, 1]))
    passes(check, {"losses": CURVE, "predictions": right}, CURVE, TRAINED)
    note = check.note({"losses": CURVE, "predictions": right}, TRAINED)
    assert note == "6 losses, from 4 to 0.125; accuracy 1.000 on 4 held-out digits"
    finding = found(check, {"losses": CURVE}, CURVE, TRAINED)
    assert "the losses are right, but nothing else is returned" in finding.message
    finding = found(check, {"losses": CURVE, "predictions": leaf([0, 0, 0, 0])}, CURVE, TRAINED)
    assert finding.message.startswith(
        "accuracy 0.250 on 4 held-out digits, expected at least 0.75. The losses are right, so"
    )
    for other in (leaf([0, 0]), leaf([np.nan] * 4)):
        finding = found(check, {"losses": CURVE, "predictions": other}, CURVE, TRAINED)
        assert "The losses are right" not in finding.message
    wrong = {"losses": leaf([9.0] * 6), "predictions": leaf([0, 0, 0, 0])}
    assert "step 0" in found(check, wrong, CURVE, TRAINED).message


LEARNS_CLASSES = Learns(learns="t(x, y)", data="digits", predict="p(trained, x)", accuracy=0.75)


@for_each(
    ("predictions", "accuracy"),
    [
        (leaf(scores([0, 1, 2, 1])), Accuracy(1.0, 0.75)),
        (leaf([0, 1, 1, 0], "int32"), Accuracy(0.5, 0.75)),
        (leaf([0, 0]), None),
        (leaf([math.nan] * 4), None),
        (leaf([1j] * 4, "complex64"), None),
        (Leaf(None, "function f"), None),
        ("all of them", None),
    ],
)
def test_the_accuracy_of_a_training_is_known_whatever_its_losses(
    predictions: Tree, accuracy: Accuracy | None
) -> None:
    assert TRAIN.scored(given(predictions), TRAINED) == accuracy
    for losses in (CURVE, leaf([9.0]), None):
        observed: Tree = {"losses": losses, "predictions": predictions}
        assert LEARNS_CLASSES.scored(observed, TRAINED) == accuracy
    assert LEARNS_CLASSES.scored({"losses": CURVE}, TRAINED) is None
    assert LEARNS.scored({"losses": CURVE}, TRAINED) is None


def test_targets_have_no_accuracy() -> None:
    case = Case(0, {}, ({},), Answers(np.zeros(4), 0))
    assert TRAIN.scored(given(leaf(np.zeros(4))), case) is None


@for_each(
    ("expected", "why"),
    [
        (leaf(4.0), "must give a list of losses, or a pair that begins with one; it gives one l"),
        ({"w": leaf([1.0])}, "it gives {'w': float32[1]}"),
        (leaf([4.0]), "must give the losses of two or more steps, got 1"),
        (leaf([4.0, np.nan]), "the loss is NaN at step 1"),
        (leaf([4.0, -2.0]), "its last loss is -2, above -4, which is `below`"),
        (leaf([4.0, 2.0]), ""),
    ],
)
def test_losses_of_pytorch_that_cannot_be_compared_are_the_packs_fault(
    expected: Tree, why: str
) -> None:
    said = LEARNS.broken(expected)
    assert why in said and bool(why) == bool(said)


# --- train_step ----------------------------------------------------------------------------

DEVICES = 4
W0 = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
B0 = np.zeros(3, np.float32)
STEP_W = np.cos(np.arange(6, dtype=np.float32)).reshape(2, 3) * 0.1
STEP_B = np.array([0.3, -0.2, 0.1], np.float32)
BATCH = np.arange(24, dtype=np.float32).reshape(8, 3)


def params(steps: float, kind: str = "jax.Array") -> dict[str, Tree]:
    """The parameters after a number of right steps."""
    tree = {"w": leaf(W0 - steps * STEP_W, kind=kind), "b": leaf(B0 - steps * STEP_B, kind=kind)}
    # PyTorch keeps the order of a dict, JAX sorts its keys.
    return tree if kind != "jax.Array" else dict(sorted(tree.items()))


REFERENCE: Tree = [
    [params(1, "torch.Tensor"), leaf(2.0, kind="torch.Tensor")],
    [params(2, "torch.Tensor"), leaf(1.5, kind="torch.Tensor")],
]
STEP = TrainStep(
    train_step="step(params, opt, x)",
    start={"params": "params", "opt": "opt"},
    finish="params",
    expect="steps(params, x)",
    shard="shard",
    batch="x",
)
BEFORE = Case(0, {}, ({"params": params(0)},))


def step(number: int, factor: float = 1.0, **changes: Tree) -> dict[str, Tree]:
    """The observation of one right step, or of one that is `factor` times as long."""
    after = params(number - 1 + factor)
    right: dict[str, Tree] = {
        "params": after,
        "replicas": [after] * DEVICES,
        "loss": [leaf(2.5 - 0.5 * number)] * DEVICES,
        "optimizer_before": [leaf(number - 1, "int32"), leaf([0.1 * number])],
        "optimizer_after": [leaf(number, "int32"), leaf([0.1 * number + 0.1])],
        **changes,
    }
    return {name.replace("_", " "): tree for name, tree in right.items()}


def steps(first: Tree | None = None, second: Tree | None = None, **changes: Tree) -> Tree:
    pieces: list[Tree] = [leaf(part) for part in np.split(BATCH, DEVICES)]
    return {
        "devices": leaf(DEVICES, "int64", "int"),
        "batch": leaf(BATCH),
        "pieces": pieces,
        "steps": [first or step(1), second or step(2)],
        **changes,
    }


def test_right_steps_pass() -> None:
    passes(STEP, steps(), REFERENCE, BEFORE)
    assert STEP.note(steps(), BEFORE) == "2 steps on 4 devices equal the single-device steps"


def test_a_batch_may_be_sharded_in_any_order() -> None:
    dealt: list[Tree] = [leaf(BATCH[device::DEVICES], kind="numpy.ndarray") for device in range(4)]
    passes(STEP, steps(pieces=dealt), REFERENCE, BEFORE)


@pytest.mark.parametrize(("name", "off"), [("bfloat16", 0.01), ("float16", 2e-3)])
def test_the_expected_dtype_sets_the_tolerance_of_a_step(name: str, off: float) -> None:
    """A step with half-precision error passes if half precision is expected, not float32."""
    first = {"w": leaf([1.0], name, "torch.Tensor")}, leaf(2.0, kind="torch.Tensor")
    check = TrainStep(train_step="s(p, x)", start={"p": "p"}, finish="p", expect="e(x)", steps=1)
    after: Tree = {"w": leaf([1.0 + off], name)}
    observed: Tree = {
        "devices": leaf(1, "int64", "int"),
        "steps": [step(1, params=after, replicas=[after])],
    }
    passes(check, observed, [list(first)], BEFORE)
    found(check, observed, [[{"w": leaf([1.0], kind="torch.Tensor")}, first[1]]], BEFORE)


def test_a_single_loss_for_all_devices_passes() -> None:
    passes(STEP, steps(step(1, loss=[leaf(2.0)])), REFERENCE, BEFORE)


def differing(number: int) -> Tree:
    """Replicas, the third of which differs by one bit."""
    tree = params(number)
    apart = dict(tree)
    apart["b"] = leaf(np.nextafter(B0 - number * STEP_B, np.float32(9)))
    return [tree, tree, apart, tree]


@for_each(
    ("observed", "words"),
    [
        # Gradients summed over the devices: psum instead of pmean.
        (steps(step(1, DEVICES)),
         ["after step 1 the parameters are not those of a single-device step on the whole batch",
          "that is 4 times too large, as many times as there are devices"]),
        # Gradients summed over the examples.
        (steps(step(1, 8)),
         ["after step 1 the parameters", "that is 8 times too large"]),
        # Uphill.
        (steps(step(1, -1)), ["after step 1", "the update goes uphill: its sign is wrong"]),
        # Another learning rate: no hint.
        (steps(step(1, 0.4)), ["after step 1 the parameters", "elements differ)"]),
        # Every device takes its own step.
        (steps(step(1, replicas=differing(1))),
         ["after step 1 the replicas on devices 0 and 2 differ", "were not averaged over the dev"]),
        (steps(second=step(2, replicas=differing(2))), ["after step 2 the replicas on devices 0"]),
        # The optimizer's new state is dropped: step 2 then differs as well.
        (steps(step(1, optimizer_after=step(1)["optimizer before"])),
         ["step 1 returns the optimizer state it was given", "momentum and step count never"]),
        (steps(second=step(2, 0.7, optimizer_after=step(2)["optimizer before"])),
         ["step 2 returns the optimizer state it was given"]),
        # The loss.
        (steps(step(1, loss=[leaf(1.0 + i) for i in range(4)])),
         ["after step 1 each device returns its own loss (1, 2, 3, 4), expected the mean over the",
          "on every device: 2"]),
        (steps(step(1, loss=[leaf(8.0)] * 4)),
         ["after step 1 the loss is not the mean over the whole batch: expected 2, got 8",
          "4 times too large, as many times as there are devices"]),
        (steps(step(1, loss=[leaf(16.0)] * 4)), ["the loss is not the mean", "8 times too large"]),
        (steps(step(1, loss=[leaf(2.1)] * 4)), ["the loss is not the mean", "got 2.1"]),
        (steps(step(1, loss=[leaf([2.0, 2.0])])), ["the loss has shape (2,), expected a scalar"]),
        # The shards.
        (steps(pieces=[leaf(BATCH)] * 4),
         ["a device gets shape (8, 3), expected (2, 3) (every device gets the whole batch): each"]),
        (steps(pieces=[leaf(BATCH)]), ["the batch is on 1 of 4 devices: each must get its"]),
        (steps(pieces=[leaf(BATCH[:1])] * 4), ["a device gets shape (1, 3), expected (2, 3): e"]),
        (steps(pieces=[leaf(BATCH[:2])] * 4),
         ["the shards together are not the batch: 6 of 8 rows are not in it"]),
    ],
)  # fmt: skip
def test_every_known_bug_of_a_step_has_its_own_message(observed: Tree, words: list[str]) -> None:
    message = found(STEP, observed, REFERENCE, BEFORE).message
    for text in words:
        assert text in message
    if words[-1].endswith("elements differ)"):
        assert message.endswith("elements differ)")


def test_a_wrong_first_step_is_reported_before_a_lost_state() -> None:
    lost = step(1)["optimizer before"]
    message = found(STEP, steps(step(1, 4, optimizer_after=lost)), REFERENCE, BEFORE).message
    assert message.startswith("after step 1 the parameters are not those of a single-device step")


def test_no_hint_for_an_update_that_is_not_a_multiple() -> None:
    apart = dict(params(4))
    w = apart["w"]
    assert isinstance(w, Leaf)
    apart["w"] = leaf(w.values + np.array([[0.1, -0.1, 0], [0, 0.1, -0.1]], np.float32))
    observed = steps(step(1, params=apart, replicas=[apart] * DEVICES))
    assert found(STEP, observed, REFERENCE, BEFORE).message.endswith("elements differ)")


def test_parameters_of_another_shape_are_shown_by_shape() -> None:
    turned = {**params(1), "w": leaf(W0.T)}
    observed = steps(step(1, params=turned, replicas=[turned] * DEVICES))
    message = found(STEP, observed, REFERENCE, BEFORE).message
    assert message.endswith("['w']: shape (3, 2), expected (2, 3): the axes are swapped")
    fewer: Tree = {"w": leaf(W0)}
    observed = steps(step(1, params=fewer, replicas=[fewer] * DEVICES))
    assert (
        "found {'w': float32[2, 3]}, expected {" in found(STEP, observed, REFERENCE, BEFORE).message
    )


@pytest.mark.parametrize(
    ("loss", "text"), [(np.nan, "NaN at []: expected 2"), (np.inf, "got inf"), (-2.0, "got -2")]
)
def test_a_diverged_loss_is_shown(loss: float, text: str) -> None:
    message = found(STEP, steps(step(1, loss=[leaf(loss)] * 4)), REFERENCE, BEFORE).message
    assert message.startswith("after step 1 the loss is not the mean over the whole batch")
    assert text in message and "too much" not in message and "uphill" not in message


@pytest.mark.parametrize("factor", [np.nan, np.inf, -np.inf, 1e30])
def test_diverged_parameters_are_shown(factor: float) -> None:
    message = found(STEP, steps(step(1, factor)), REFERENCE, BEFORE).message
    assert message.startswith("after step 1 the parameters are not those")
    assert "too much" not in message or factor == 1e30


def test_shards_are_optional() -> None:
    check = TrainStep(train_step="s(p, x)", start={"p": "p"}, finish="p", expect="e(x)", steps=1)
    observed = {"devices": leaf(1, "int64", "int"), "steps": [step(1, replicas=[params(1)])]}
    assert isinstance(REFERENCE, list)
    passes(check, observed, REFERENCE[:1], BEFORE)


@for_each(
    "changes",
    [
        {"steps": []},
        {"steps": [step(1)]},
        {"steps": [step(1)] * 3},
        {"steps": [None, None]},
        {"devices": leaf(0, "int64")},
        {"devices": leaf([1, 2], "int64")},
        {"devices": leaf(np.nan)},
        {"devices": "4"},
        {"batch": leaf(1.0)},
        {"batch": None},
        {"pieces": leaf(BATCH)},
        {"steps": [step(1, loss=[]), step(2)]},
        {"steps": [step(1, loss=[Leaf(None, "function f")]), step(2)]},
        {"steps": [step(1, loss=[leaf(2j, "complex64")]), step(2)]},
        {"steps": [step(1, replicas=leaf(1)), step(2)]},
        {"pieces": [leaf(BATCH[:2], "bfloat16"), *[leaf(BATCH[:2])] * 3]},
    ],
)
def test_malformed_steps_raise_tree_error(changes: dict[str, Tree]) -> None:
    with pytest.raises(TreeError):
        STEP.judge(steps(**changes), REFERENCE, BEFORE)


# --- numbers in answers --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "value"),
    [
        (leaf(2.5), 2.5),
        (leaf([[3]], "int32"), 3),
        (leaf(True, "bool"), 1),
        (leaf(2, "bfloat16"), 2),
    ],
)
def test_a_number_is_an_array_of_one_element(tree: Tree, value: float) -> None:
    assert real(tree) == value


@for_each(
    "tree", [None, "1", [leaf(1)], leaf([1, 2]), leaf([]), leaf(1j, "complex64"), Leaf(None, "f")]
)
def test_other_leaves_are_not_numbers(tree: Tree) -> None:
    with pytest.raises(TreeError):
        real(tree)


def test_keys_that_a_sandbox_says_to_have_made_each_other_end() -> None:
    """A circle of keys, each made twice by the other, and a chain of very many."""
    use, child, n = 1, 3, 30_000
    rows = []
    for number in range(n):
        key, parent = number % 100 if number < 200 else number, (number + 1) % 100
        parent = parent if number < 200 else number - 1
        rows += [(0, 1, 2 * number, 0, key), (0, 2, 2 * number + 1, 0, key)]
        rows.append((use, 3, number, 0, parent))
        rows.append((child, 3, number, len(rows) - 1, key))
    filled = np.array([[*row, -1, -1, -1] for row in rows], np.int64)
    finding = found(STRICT, drawn(TWO, uses=Leaf(filled, "array")))
    assert finding.code == "key-reused"
