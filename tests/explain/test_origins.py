"""Where the names in a failing line were set."""

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.explain.conftest import Kept, import_module
from tests.explain.test_index import jaxtutor
from tutor.explain.origins import MAX_LINES, MAX_SHOWN, Frame, origins_of, worth_showing
from tutor.report import Explanation

DECODE = """\
import jax.numpy as jnp
from jax import lax

SIZE = 8


def make_cache(batch):
    shape = batch, SIZE
    return {"k": jnp.zeros(shape)}


def write(buffer, new, at):
    return lax.dynamic_update_slice(buffer, new, (0, at))


def attend(x, cache, at):
    k = project(x)
    return write(cache["k"], k, at)


def step(x, cache):
    for at in range(3):
        x = attend(x, cache, at=at)
    return x


cache = make_cache(2)
x = jnp.ones((2, SIZE), jnp.bfloat16)
step(x, cache)
"""


def found(code: str, *numbers: int, part: str = "") -> list[str]:
    """Return what is found for the line with the last number, called in those with the others."""
    lines = dedent(code).split("\n")
    frames = [Frame(lines, number) for number in numbers]
    origins = origins_of(frames, part or lines[numbers[-1] - 1])
    return [f"{one.name} {one.line}" for one in origins]


def test_arguments_are_followed_to_where_they_were_made():
    assert found(DECODE, 29, 23, 18, 13, part="lax.dynamic_update_slice(buffer, new, (0, at))") == [
        "buffer, new 18", "cache 27", "make_cache(…) 9", "k 17", "at 22",
    ]  # fmt: skip


def test_what_the_traceback_does_not_show_is_not_guessed():
    assert found(DECODE, 13) == []


@pytest.mark.parametrize(
    ("code", "number", "origins"),
    [
        ("a, (b, c) = f()\nc + 1", 2, ["c 1"]),
        ("for i, (a, b) in rows:\n    b + 1", 2, ["b 1"]),
        ("with open(f) as (a, b):\n    b + 1", 2, ["b 1"]),
        ("x: int = 3\nx + 1", 2, ["x 1"]),
        ("x = 3\ny = f(x=4)\nx + 1", 3, ["x 1"]),
        ("x = 3\nif x == 4:\n    x + 1", 3, ["x 1"]),
        ("y = x == 3\nx + 1", 2, []),
        ("x = 'y'\nf('x', x)", 2, ["x 1"]),
        ("def f():\n    return 3\n\nx = f()\nx + 1", 5, ["x 4", "f(…) 2"]),
        ("def f():\n    def g():\n        return 4\n    return g\n\nf() + 1", 6, ["f(…) 4"]),
        ("def f(x):\n    y = x\n    def g(z):\n        return y + z\n    return g", 4, ["y 2"]),
        ("class A:\n  def __init__(self):\n    self.w = 3\n  def f(self):\n    self.w", 5,
         ["self.w 3"]),
        ("import numpy as np\nfrom a import (b, c)\nnp.sum(b, c, len, None)", 3, []),
        ("x, y = f()\ntree.map(lambda p, g: p - g, x, y)", 2, ["x, y 1"]),
        ("body = None\ndef body(c, x):\n    return c\nlax.scan(body, 0, x)", 4, ["body 1"]),
        ("def body(c, x):\n    return c\nlax.scan(body, 0, [])", 3, ["body(…) 2"]),
        ("x = 1\nx = 2\nx + 1", 3, ["x 2"]),
        ("x += 1", 1, []),
    ],
)  # fmt: skip
def test_the_nearest_statement_above_is_found(code: str, number: int, origins: list[str]):
    assert found(code, number) == origins


def test_the_part_that_failed_counts():
    assert found("x = 1\ny = 2\nf(x) + g(y)", 3, part="g(y)") == ["y 2"]


@pytest.mark.parametrize(
    ("function", "call", "origin"),
    [
        ("def f(a, b):", "f(x, y)", "x 2"),
        ("def f(a, b):", "f(b=y, a=x)", "x 2"),
        ("def f(a, *, b):", "f(x, b=g(1, 2))", "x 2"),
        ("def f(\n    self,\n    a,\n):", "model.f(x)", "x 2"),
        ("def __call__(self, a):", "model(x)", "x 2"),
    ],
)
def test_arguments_are_found_by_place_and_by_name(function: str, call: str, origin: str):
    code = f"y = 1\nx = 2\n{function}\n    return a + 1\n{call}"
    lines = code.split("\n")
    frames = [Frame(lines, len(lines)), Frame(lines, len(lines) - 1)]
    last = origins_of(frames, "a + 1")[-1]
    assert f"{last.name} {last.line}" == origin


def test_the_statement_of_the_line_is_not_its_own_origin():
    code = """\
        cache = make()
        x = 3
        cache = {
            "k": write(cache["k"], x),
            "v": [
                write(cache["v"], x),
            ],
        }
    """
    assert found(code, 4, part='write(cache["k"], x)') == ["cache 1", "x 2"]
    assert found(code, 6, part='write(cache["v"], x)') == ["cache 1", "x 2"]


def test_what_functions_use_comes_last():
    code = """\
        import jax
        rate = 2
        eps = draw()
        scale = 3
        x = 4
        jax.jvp(lambda z: scale * z * rate, (x,), (eps,))
    """
    assert found(code, 6) == ["x 5", "eps 3", "scale 4", "rate 2"]


def test_a_parameter_of_a_lambda_is_not_followed():
    code = "def loss(p):\n    return p + 1\n\np = 3\nf = jit(lambda q: loss(q))\nf(p)"
    assert found(code, 6, 5, 2) == []


@pytest.mark.parametrize(
    "call",
    [
        "jax.value_and_grad(loss, has_aux=True)(params, draw(3))",
        "jax.jit(loss)(params, draw(3))",
        "step(params, draw(3))",
    ],
)
def test_arguments_are_followed_through_transformed_functions(call: str):
    code = f"""\
        import jax
        def draw(n):
            return ones(n)
        def loss(p, batch):
            return p @ batch
        step = jax.jit(loss)
        params = init()
        value = {call}
    """
    assert found(code, 8, 5) == ["p, batch 8", "params 7", "draw(…) 3"]


def test_of_a_sure_explanation_only_values_that_do_not_fit_are_followed():
    sure = Explanation("id", "It is so.", "-", "instead", "arrays-hello")
    assert not worth_showing(sure, "JAX arrays are immutable")
    assert worth_showing(sure, "got incompatible shapes")
    assert worth_showing(None, "JAX arrays are immutable")


def test_a_pasted_traceback_shows_them_if_its_file_is_here(tmp_path: Path):
    path = tmp_path / "decode.py"
    path.write_text(DECODE)
    lines = DECODE.split("\n")
    text = "Traceback (most recent call last):\n"
    for number, function in ((29, "<module>"), (23, "step"), (18, "attend"), (13, "write")):
        text += f'  File "{path}", line {number}, in {function}\n    {lines[number - 1].strip()}\n'
    text += (
        "TypeError: lax.dynamic_update_slice requires arguments to have the same dtypes, got x.\n"
    )
    out = jaxtutor("-", text=text).stdout
    assert "Look also where its names come from:" in out
    assert 'make_cache(…)  line 9   return {"k": jnp.zeros(shape)}' in out


def test_a_fault_of_the_learners_code_has_them(kept: Kept):
    code = "import jax.numpy as jnp\nrows = jnp.ones((2, 3))\nrows @ jnp.ones((2, 4))\n"
    symptom = import_module(kept, code)
    assert symptom is not None
    assert [(one.name, one.line, one.code) for one in symptom.origins] == [
        ("rows", 2, "rows = jnp.ones((2, 3))")
    ]


@given(
    st.lists(st.sampled_from([*DECODE.split("\n"), "(", "def f(", '"', "x = (", "\t=", "return"]))
)
@settings(deadline=None)
def test_any_code_is_accepted(lines: list[str]):
    for number in range(1, len(lines) + 1):
        assert (
            len(origins_of([Frame(lines, 1), Frame(lines, number)], lines[number - 1])) <= MAX_SHOWN
        )


@pytest.mark.parametrize(
    "line",
    ["    return x", "    x = x", "def f(x):", "x = (" + "(" * 290, "a" * 300 + "(",
     "lambda x, " * 30, "f(" * 100, "for x, " * 40],
)  # fmt: skip
def test_no_code_can_hold_up_the_process_that_judges_it(line: str):
    lines = ["def x(x):", *[line] * (MAX_LINES - 2), "    x(x, x.x, self.x)"]
    assert len(origins_of([Frame(lines, MAX_LINES)] * 40, lines[-1])) <= MAX_SHOWN
