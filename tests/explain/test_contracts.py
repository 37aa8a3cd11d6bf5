"""What functions need: the texts hold, their examples run, and errors find them."""

import ast
import json
from pathlib import Path
from textwrap import dedent

import pytest

from tests.explain.conftest import Kept, import_module
from tests.explain.test_index import jaxtutor
from tutor.explain import Symptom, contracts_for, explain
from tutor.explain.contracts import FOLDER, SHOWN, Function, Functions, called_in, functions
from tutor.explain.traceback import read_traceback
from tutor.pack.struct_reader import plain
from tutor.pack.yaml_nodes import read
from tutor.report import Explanation


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_is_valid(path: Path):
    import msgspec

    node, _ = read(path, path.name)
    file = msgspec.convert(plain(node), Functions)
    assert len({one.name for one in file.functions}) == len(file.functions)


def test_no_function_is_there_twice():
    names = [name for one in functions() for name in (one.name, *one.also) if name[-1] not in "(["]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("function", functions(), ids=lambda one: one.name)
def test_every_example_calls_its_function_and_runs(kept: Kept, function: Function):
    names = [name.rpartition(".")[2] for name in (function.name, *function.also)]
    code = ast.unparse(ast.parse(function.example))  # without comments
    assert any(name.rstrip("([") in code for name in names if name)
    problem = import_module(kept, function.example, devices=4)
    assert problem is None, problem


def shown(text: str, explained: Explanation | None = None) -> list[str]:
    symptom = read_traceback(text)
    assert symptom is not None
    return [one.name for one in contracts_for(symptom, explained)]


def raised(*frames: str, message: str = "ValueError: something", names: str = "") -> str:
    """Return a traceback through these lines, each `function: code`."""
    head = f"import jax, optax\n{names}\nTraceback (most recent call last):\n"
    lines = []
    for frame in frames:
        function, _, code = frame.partition(": ")
        lines.append(f'  File "/home/me/train.py", line 3, in {function}\n    {code}\n')
    return f"{head}{''.join(lines)}{message}\n"


@pytest.mark.parametrize(
    ("frames", "names"),
    [
        (["<module>: y = jax.lax.fori_loop(0, n, body, x)"], ["jax.lax.fori_loop"]),
        (["<module>: y = lax.fori_loop(0, n, body, x)"], ["jax.lax.fori_loop"]),
        (["<module>: y = fori_loop(0, n, body, x)"], ["jax.lax.fori_loop"]),
        (["<module>: y = self.fori_loop(0, n, body, x)"], []),
        (["<module>: y = np.where(x > 0, x)"], []),
        (["<module>: y = torch.where(x > 0, x)"], []),
        (["<module>: y = jnp.where(x > 0, x)"], ["jax.numpy.where"]),
        (["<module>: y = where(x > 0, x)"], []),
        (
            ["<module>: y = jax.lax.scan(body, x, xs)", "body: return c @ p"],
            ["jax.lax.scan"],
        ),
        (["<module>: loss(x)", "loss: return x @ w"], []),
        (["<module>: jax.grad(loss)(x)", "loss: return x @ w"], []),
        (["<module>: jax.lax.scan(f, x, xs)", "f: return jnp.take(x, i)"], ["jax.numpy.take"]),
    ],
)
def test_the_functions_in_which_an_error_arose_are_found(frames: list[str], names: list[str]):
    assert shown(raised(*frames)) == names


@pytest.mark.parametrize(
    ("functions", "names"),
    [
        (["tree_map"], ["jax.tree.map"]),
        (["jacfun", "tree_map"], []),
        (["f", "scan"], ["jax.lax.scan"]),
    ],
)
def test_trees_that_jax_goes_through_itself_do_not_count(functions: list[str], names: list[str]):
    text = raised("<module>: g(x)")
    last = text.index("ValueError")
    frames = "".join(
        f'  File "/lib/python3.11/site-packages/jax/some.py", line 7, in {one}\n    f()\n'
        for one in functions
    )
    assert shown(f"{text[:last]}{frames}ValueError: no\n") == names


def test_a_method_of_the_learner_is_no_function_of_a_library():
    frame = "<module>: k1, k2 = ring.take(1)"
    assert shown(raised(frame)) == ["jax.numpy.take"]
    assert shown(raised(frame, names="class Ring:\n    def take(self, n):\n")) == []


def test_a_function_is_found_that_was_given_to_one_of_jax():
    code = "f.defvjp(forward, backward)"
    frames = "<module>: print(jax.grad(f)(x))", "backward: return (scale * g,)"
    assert shown(raised(*frames, names=code)) == ["jax.custom_vjp"]
    assert shown(raised(*frames)) == []


def test_the_part_of_the_line_that_the_traceback_marks_counts():
    text = raised("<module>: y = jnp.sum(jnp.take(x, i))")
    marked = text.replace("i))\n", "i))\n                ^^^^^^^^^^^^^^\n")
    assert shown(text) == ["jax.numpy.sum", "jax.numpy.take"]
    assert shown(marked) == ["jax.numpy.take"]


def test_the_message_says_which_of_several_functions_failed():
    frame = "<module>: y = jnp.sum(jnp.take(x, i))"
    assert shown(raised(frame, message="TypeError: take requires ints")) == ["jax.numpy.take"]


@pytest.mark.parametrize(
    ("function", "names"),
    [("nothing_known", []), ("take", ["jax.numpy.take"]), ("cache_miss", ["jax.numpy.take"])],
)
def test_the_frames_say_which_of_several_functions_failed(function: str, names: list[str]):
    text = raised("<module>: jax.nn.nothing_known(jnp.take(x, i))", "@")
    last = text.rindex('  File "')
    frame = f'  File "/lib/python3.11/site-packages/jax/some.py", line 7, in {function}\n'
    assert shown(f"{text[:last]}{frame}    raise\nValueError: no\n") == names


@pytest.mark.parametrize(
    "message",
    [
        "KeyboardInterrupt",
        "ModuleNotFoundError: No module named 'x'",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory",
        "FileNotFoundError: no",
    ],
)
def test_errors_that_no_call_raises_have_none(message: str):
    assert shown(raised("<module>: jnp.where(x)", message=message)) == []


def test_an_explanation_that_speaks_of_the_function_is_enough():
    frames = "<module>: y = jax.lax.scan(body, x, xs)", "body: level, trend = carry"
    about = Explanation("id", "`scan` passes x.", "Because.", "instead", "control-flow-scan")
    other = Explanation("id", "It is a scalar.", "Because.", "instead", "control-flow-scan")
    assert shown(raised(*frames), about) == []
    assert shown(raised(*frames), other) == ["jax.lax.scan"]
    take = "<module>: y = jnp.take(x, i)"
    assert shown(raised(take), other) == ["jax.numpy.take"]
    assert shown(raised(take, message="NotImplementedError: no"), other) == []


def test_a_fault_of_the_learners_code_has_them(kept: Kept):
    code = """
        import jax
        import jax.numpy as jnp

        def body(x, i):
            return x @ jnp.ones(3)

        jax.lax.fori_loop(0, 3, body, jnp.ones(3))
    """
    symptom = import_module(kept, dedent(code))
    assert symptom is not None
    explained = explain(symptom)
    told = str(explained)
    names = [one.name for one in contracts_for(symptom, explained)]
    assert "fori_loop" in told or names == ["jax.lax.fori_loop"]


def test_the_part_of_the_line_that_failed_counts_in_a_fault(kept: Kept):
    code = """
        import jax.numpy as jnp

        é = jnp.sum(jnp.take_along_axis(jnp.ones((3, 4)), jnp.ones((3, 4)), 1))
    """
    symptom = import_module(kept, dedent(code))
    assert symptom is not None
    assert symptom.frames == ("jnp.take_along_axis(jnp.ones((3, 4)), jnp.ones((3, 4)), 1)",)
    assert [one.name for one in contracts_for(symptom, None)] == ["jax.numpy.take_along_axis"]


@pytest.mark.parametrize("name", ["jax.lax.scan", "lax.scan", "nnx.Linear", "jnp.where"])
def test_a_function_is_shown_by_its_name(name: str):
    done = jaxtutor(name)
    assert done.returncode == 0
    assert name.rpartition(".")[2] in done.stdout.splitlines()[0]
    told = json.loads(jaxtutor(name, "--json").stdout)
    assert told["name"].endswith(name.rpartition(".")[2]) and told["needs"]


def test_functions_are_listed_with_the_explanations():
    found = json.loads(jaxtutor("--list", "scan", "carry", "--json").stdout)
    assert {"jax.lax.scan", "scan-carry-shape"} <= {one["id"] for one in found}


def test_what_a_function_needs_is_shown_for_an_error_that_nothing_explains():
    done = jaxtutor("-", text=raised("<module>: y = jax.lax.fori_loop(0, n, body, x)"))
    assert done.returncode == 1
    assert "No explanation known." in done.stdout
    assert "What jax.lax.fori_loop needs:" in done.stdout


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("/home/me/.venv/lib/python3.11/site-packages/flax/core/lift.py", ["jax.numpy.where"]),
        ("C:\\me\\Lib\\site-packages\\jax\\_src\\lax.py", ["jax.numpy.where"]),
        ("/home/me/.venv/lib/python3.11/site-packages/pandas/core/frame.py", []),
        ("/usr/lib/python3.11/json/encoder.py", []),
    ],
)
def test_an_error_raised_in_another_library_has_none(file: str, names: list[str]):
    text = raised("<module>: y = jnp.where(x > 0, x)", "@")
    last = text.rindex('  File "')
    text = f'{text[:last]}  File "{file}", line 7, in f\n    raise ValueError\nValueError: no\n'
    assert shown(text) == names


def test_a_message_without_its_traceback_names_the_function():
    message = "TypeError: fori_loop() got an unexpected keyword argument 'n'\n"
    assert shown(f"import jax\n{message}") == ["jax.lax.fori_loop"]
    assert shown(f"import jax\n{message.replace('fori_loop', 'my_loop')}") == []


@pytest.mark.parametrize(
    ("code", "frame", "names"),
    [
        ("self.rnn = nnx.RNN(cell)", "f: out, (h, c) = self.rnn(x)", ["flax.nnx.RNN"]),
        ("block = jax.checkpoint(block, policy='dots')", "f: x = block(p, x)", ["jax.checkpoint"]),
        ("loss, pull = jax.vjp(critic, p)", "f: (g,) = pull(loss)", ["jax.vjp"]),
        ("@partial(jax.custom_vjp, nondiff_argnums=0)\ndef solve(f, x):", "f: solve(f, 1)",
         ["jax.custom_vjp"]),
        ("@nnx.split_rngs(splits=4)\n@nnx.scan\ndef forward(x, m):", "f: return forward(x, m)",
         ["flax.nnx.split_rngs", "flax.nnx.scan"]),
        ("y = jnp.take(x, i)", "f: y.wave(3)", []),
        ("block = Block(3)", "f: x = block(p, x)", []),
    ],
)  # fmt: skip
def test_a_function_is_found_that_made_what_is_called(code: str, frame: str, names: list[str]):
    assert shown(raised(frame, names=code)) == names


def test_a_function_is_found_by_its_file_in_the_traceback():
    text = raised("<module>: f(x)", "@")
    last = text.rindex('  File "')
    file = "/venv/lib/python3.11/site-packages/optax/_src/lookahead.py"
    text = f'{text[:last]}  File "{file}", line 7, in update_fn\n    raise\nValueError: no\n'
    assert shown(text) == ["optax.lookahead"]


@pytest.mark.parametrize(
    ("file", "function", "name"),
    [
        ("jax/_src/random/core.py", "uniform", "jax.random.uniform"),
        ("jax/_src/tree.py", "map", "jax.tree.map"),
        ("jax/_src/lax/control_flow/loops.py", "map", "jax.lax.map"),
    ],
)
def test_another_function_of_that_name_is_not_found_by_the_frames_of_the_traceback(
    file: str, function: str, name: str
):
    text = raised("<module>: x = draw(key)", "@")
    last = text.rindex('  File "')
    frame = f'  File "/venv/lib/python3.11/site-packages/{file}", line 7, in {function}\n'
    assert shown(f"{text[:last]}{frame}    raise\nValueError: no\n") == [name]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("y = jnp.ones(3, 4)", ["jax.numpy.zeros"]),
        ("jnp.ones(3) << 2", []),
        ("y = layer(jnp.ones(3))", []),
        ("y = jnp.ones(3).mT", []),
    ],
)
def test_what_is_done_with_the_result_of_a_function_is_no_call_of_it(line: str, names: list[str]):
    assert shown(raised(f"<module>: {line}", message="TypeError: no")) == names


@pytest.mark.parametrize(
    ("imports", "names"),
    [
        ("import jax.scipy.linalg as la", ["jax.scipy.linalg.solve_triangular"]),
        ("from jax.scipy import linalg as la", ["jax.scipy.linalg.solve_triangular"]),
        ("from jax.scipy import stats, linalg as la", ["jax.scipy.linalg.solve_triangular"]),
        ("import scipy.linalg as la", []),
    ],
)
def test_the_name_under_which_a_module_was_imported_is_known(imports: str, names: list[str]):
    code = f"import jax\n{imports}\ny = la.solve_triangular(a, b)\n"
    found = called_in("y = la.solve_triangular(a, b)", Symptom(source=code))
    assert [one.name for one in found] == names


def test_an_explanation_does_not_speak_of_a_function_by_quoting_its_call():
    line = "y = jnp.take(x, i)"
    about = Explanation("id", f"`{line}` is wrong.", "-", "instead", "arrays-indexing")
    assert shown(raised(f"<module>: {line}"), about) == ["jax.numpy.take"]


def test_an_operator_is_no_call_of_a_function():
    text = raised("<module>: jax.lax.scan(step, h, xs)", "step: h = h + x", "@")
    last = text.rindex('  File "')
    frames = "".join(
        f'  File "/venv/lib/python3.11/site-packages/jax/_src/{file}.py", line 7, in {name}\n'
        for file, name in (("numpy/array_methods", "_operator_add"), ("lax/lax", "add"))
    )
    assert shown(f"{text[:last]}{frames}    raise\nTypeError: no\n") == ["jax.lax.scan"]


def test_a_name_of_pytorch_is_still_one():
    told = json.loads(jaxtutor("append", "--json").stdout)
    assert "append" in dict(told["names"])
    assert json.loads(jaxtutor("jax.Array.view", "--json").stdout)["name"] == "jax.Array.view"
    assert "did you mean 'jax.lax.scan'?" in jaxtutor("jax.lax.scn").stderr


@pytest.mark.parametrize(
    "code",
    [
        "f " * 100_000,
        "(" * 200_000,
        "import " * 30_000,
        "@f\n" * 60_000,
        "f" + "(f" * 100_000,
        "a = f\n" * 30_000,
        " " * 200_000,
    ],
    ids=["name", "brackets", "import", "decorators", "calls", "assignments", "blanks"],
)
def test_no_code_can_hold_up_the_process_that_judges_it(code: str):
    symptom = Symptom(
        exception="TypeError",
        message="no",
        line=code,
        source=code,
        frames=("jax.lax.scan(f, x)", code),
        function="f",
    )
    assert len(contracts_for(symptom, None)) <= SHOWN
