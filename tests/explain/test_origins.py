"""Where the names in a failing line were set."""

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.explain.conftest import Kept, import_module
from tests.explain.test_index import jaxtutor
from tutor.explain import Symptom
from tutor.explain.origins import MAX_SHOWN, origins_of, worth_showing
from tutor.explain.parsed_file import MAX_SOURCE
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
    places = tuple(("a.py", number) for number in numbers)
    symptom = Symptom(files={"a.py": dedent(code)}, places=places, frames=(part,))
    return [f"{one.name} {one.line}" for one in origins_of(symptom)]


def test_arguments_are_followed_to_where_they_were_made():
    assert found(DECODE, 29, 23, 18, 13, part="lax.dynamic_update_slice(buffer, new, (0, at))") == [
        "buffer, new 18", "cache 27", "make_cache returns 9", "k 17", "at 22",
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
        ("def f():\n    return 3\n\nx = f()\nx + 1", 5, ["x 4", "f returns 2"]),
        ("def f():\n    def g():\n        return 4\n    return g\n\nf() + 1", 6, ["f returns 4"]),
        ("def f(x):\n    y = x\n    def g(z):\n        return y + z\n    return g", 4, ["y 2"]),
        ("class A:\n  def __init__(self):\n    self.w = 3\n  def f(self):\n    self.w", 5,
         ["self.w 3"]),
        ("import numpy as np\nfrom a import (b, c)\nnp.sum(b, c, len, None)", 3, []),
        ("x, y = f()\ntree.map(lambda p, g: p - g, x, y)", 2, ["x, y 1"]),
        ("body = None\ndef body(c, x):\n    return c\nlax.scan(body, 0, x)", 4, ["body returns 3"]),
        ("def body(c, x):\n    return c\nlax.scan(body, 0, [])", 3, ["body returns 2"]),
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
        ("def f(b, a):", "f('p, q', x)", "x 2"),
        ("def f(b, a):", "f(lambda p, q: p, x)", "x 2"),
        ("class M:\n  def f(\n    self,\n    a,\n  ):", "model.f(x)", "x 2"),
        ("class M:\n  def __init__(self, a):", "M(x)", "x 2"),
    ],
)
def test_arguments_are_found_by_place_and_by_name(function: str, call: str, origin: str):
    code = f"y = 1\nx = 2\n{function}\n    return a + 1\n{call}"
    number = len(code.split("\n"))
    assert found(code, number, number - 1)[-1] == origin


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("def f(a, b):", "f(*x)"),
        ("def f(*a):", "f(x)"),
        ("def f(b, a=3):", "f(*x)"),
        ("def f(b, a=3):", "f(x, **y)"),
        ("def f(a):", "f(x) + f(y)"),
        ("def f(a):", "other(x)"),
        ("def f(a):", "partial(f, 3)(x)"),
    ],
)
def test_arguments_that_are_not_clear_are_not_followed(function: str, call: str):
    code = f"y = 1\nx = 2\n{function}\n    return a + 1\n{call}"
    assert found(code, 5, 4) == []


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
    code = "def loss(p):\n    return p + 1\n\nq = 3\nf = jit(lambda q: loss(q))\nf(q)"
    assert found(code, 6, 5, 2) == ["p 5"]


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
    assert found(code, 8, 5) == ["p, batch 8", "params 7", "draw returns 3"]


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
    assert "Where the names in this line were set:" in out
    assert 'make_cache returns  line 9   return {"k": jnp.zeros(shape)}' in out


def test_a_fault_of_the_learners_code_has_them(kept: Kept):
    code = "import jax.numpy as jnp\nrows = jnp.ones((2, 3))\nrows @ jnp.ones((2, 4))\n"
    symptom = import_module(kept, code)
    assert symptom is not None
    assert [(one.name, one.line, one.code) for one in origins_of(symptom)] == [
        ("rows", 2, "rows = jnp.ones((2, 3))")
    ]


@pytest.mark.parametrize(
    ("code", "numbers", "origins"),
    [
        # the parameter of an enclosing function comes from the call of that function
        ("""
            x, p = 1, 2
            def step(params, x):
                def loss(params):
                    return params @ x
                return jax.grad(loss)(params)
            data = 3
            step(p, data)
         """, (8, 6, 5), ["params, x 8", "p 2", "data 7"]),
        ("x = 3\nprint(x, end='')\nx @ w", (3,), ["x 1"]),
        ("x = 3\nplt.plot(h, x='h')\nx @ w", (3,), ["x 1"]),
        ("x = 1\ndef helper():\n    x = 2\n    return x\nx @ w", (5,), ["x 1"]),
        ("class A:\n    x = 4\n    def f(self):\n        return x @ w\nA().f()", (5, 4), []),
        ("w = None\ndef f(x):\n    return x @ w\nw = init()\ny = 2\nf(y)", (6, 3), ["x 6", "y 5"]),
        ("x = 1\nx = dot(\n    exp(x @ x), 3)", (3,), ["x 1"]),
        ("y = 1\nx = 2\nys = scan(xs=y)", (3,), ["y 1"]),
        ("""
            class A:
                def __init__(self):
                    self.w = 1
            class B:
                def __init__(self):
                    self.w = 2
                def f(self):
                    return self.w @ 3
         """, (9,), ["self.w 7"]),
        ("def update(p, g):\n    return p - g\nu = tx.update(g, s)\nu + 1", (4,), ["u 3"]),
        ("import jax\ndef relu(x):\n    return x\nh = jax.nn.relu(x)\nh + 1", (5,), ["h 4"]),
        ("a = 1\nfor a in other:\n    pass\n[a @ w for a in rows]", (4,), []),
        ("def f(x):\n  \'\'\'\n  x = 3\n  \'\'\'\n  return x\ny = 4\nf(y)", (7, 5), ["x 7", "y 6"]),
        ("if (n := f()):\n    g(n)", (2,), ["n 1"]),
        ("x = 1\nx += 2\nx @ w", (3,), ["x 2"]),
        ("a = b = 3\nb @ 2", (2,), ["b 1"]),
        ("def f(n):\n    return f(n - 1) if n else m @ 3\nm = 2\nk = 5\nf(k)", (5, 2, 2), ["m 3"]),
    ],
)  # fmt: skip
def test_what_is_not_where_a_name_was_set_is_not_shown(
    code: str, numbers: tuple[int, ...], origins: list[str]
):
    part = "m @ 3" if "m @ 3" in code else ""
    assert found(code, *numbers, part=part) == origins


@pytest.mark.parametrize(
    ("code", "numbers", "origins"),
    [
        ("total = 0\nfor x in xs:\n    total = total + g(x)", (3,), ["total 1", "x 2"]),
        ("total = 0\nfor x in xs:\n    total + x\n    total = 1", (3,), ["total 1", "x 2"]),
        (
            """
            class A:
                def __init__(self, p):
                    self.p = p
                def f(self, x):
                    p = draw(x)
                    return self.p @ p
            x = 3
            A(4).f(x)
         """,
            (9, 7),
            ["self.p 4", "A(p) 9", "p 6"],
        ),
        ("class A:\n  def f(self, x):\n    self.x[0] = x\nx = 3\nA().f(x)", (5, 3), ["x 4"]),
        ("for x in xs:\n    total = 1\n    total + x\n    total = 2", (3,), ["total 2", "x 1"]),
        ("x = 2\nx *= y", (2,), ["x 1"]),
        ("def f(a):\n    return a + 1\n[f(x) for x in y]", (3, 2), ["a 3"]),
        ("def f(a):\n    return a + 1\nmap(lambda x: f(x), y)", (3, 2), ["a 3"]),
        ("def f(a):\n    return a + 1\nx = 3\ny = 4\n{1: f(x),\n 2: f(y)}", (6, 2), ["a 5", "y 4"]),
        (
            "class M:\n  def __call__(self, a):\n    return a\nx = 3\nM(4)(x)",
            (5, 3),
            ["a 5", "x 4"],
        ),
    ],
)
def test_of_what_is_not_clear_only_what_is_true_is_shown(
    code: str, numbers: tuple[int, ...], origins: list[str]
):
    assert found(code, *numbers) == origins


@pytest.mark.parametrize(
    ("code", "numbers", "origins"),
    [
        ("parts = []\nparts.append(3)\nstack(parts)", (3,), ["parts 2"]),
        ("p = init()\np['w'] = 3\np['b'] = 4\nf(p['w'])", (4,), ["p 1", "p 2"]),
        ("p = init()\np['w'] = 3\np['b'] = 4\nf(p)", (4,), ["p 1", "p 2", "p 3"]),
        ("p = {}\np[k] = 3\nf(p['w'])\np['w'] = 1", (3,), ["p 2"]),
        ("parts = []\nlen(parts)\nstack(parts)", (3,), ["parts 1"]),
        ("rows = jnp.zeros(3)\nrows.at[0].set(1)\nrows + 1", (3,), ["rows 1"]),
        (
            """
            class Buffer:
                def __init__(self):
                    self.rows = []
                def add(self, row):
                    self.rows.append(row)
                def sample(self):
                    return stack(self.rows)
         """,
            (8,),
            ["self.rows 6"],
        ),
    ],
)
def test_what_was_put_into_a_container_is_shown(
    code: str, numbers: tuple[int, ...], origins: list[str]
):
    assert found(code, *numbers) == origins


ATTRIBUTE = """class A:
    def __init__(self):
        self.x = 1
    def set(self, x):
        {} self.x = x
    def f(self): return self.x + 1
"""
"""Set in two places, or in three."""


@pytest.mark.parametrize(
    ("code", "numbers", "origins"),
    [
        ("def f(x):\n    if x:\n        return 1\n    return 2\ny = f(3)\ny + 1", (6,),
         ["y 5", "f returns 3", "f returns 4"]),
        ("def f(x):\n  if x: return 1\n  if y: return 2\n  return 3\nf(4) + 1", (5,), []),
        ("def f():\n    z = draw()\n    return z\ny = f()\ny + 1", (5,),
         ["y 4", "f returns 3", "z 2"]),
        (ATTRIBUTE.format(""), (6,), ["self.x 3", "self.x 5"]),
        (ATTRIBUTE.format("self.x = 2;"), (6,), ["self.x 3"]),
    ],
)  # fmt: skip
def test_of_two_that_set_a_name_both_are_shown(
    code: str, numbers: tuple[int, ...], origins: list[str]
):
    assert found(code, *numbers) == origins


NET = """
    class Net(nn.Module):
        features: int
        rate: float = 0.1

        def __call__(self, x):
            x = f(x, self.rate)
            return dense(x, self.features)

    model = Net({})
    model.apply(v, y)
"""


@pytest.mark.parametrize(
    ("made", "line", "origins"),
    [
        ("features=3", 8, ["self.features 10", "x 7", "f returns"]),
        ("3", 8, ["self.features 10"]),
        ("3, 0.5", 7, ["self.rate 10"]),
        ("3", 7, ["self.rate 4"]),
    ],
)
def test_a_field_comes_from_where_the_instance_is_made(made: str, line: int, origins: list[str]):
    seen = found(NET.format(made), 11, line)
    assert [one for one in seen if one.startswith("self.")] == origins[:1]


@pytest.mark.parametrize("made", ["**options", "*options"])
def test_a_field_that_may_be_passed_is_not_guessed(made: str):
    assert "self." not in " ".join(found(NET.format(made), 11, 7))


def test_a_field_of_instances_made_elsewhere_is_not_guessed():
    code = NET.format("3").replace("model = Net(3)", "class Other(Net): pass")
    assert "self." not in " ".join(found(code, 11, 7))


def test_a_field_of_several_instances_is_not_guessed():
    assert "self." not in " ".join(found(NET.format("3") + "    Net(4)\n    Net(5)\n", 11, 8))


@pytest.mark.parametrize(
    ("code", "numbers", "origins"),
    [
        ("""
            class Config:
                width: int = 8
                depth: int = 2
            config = Config(depth=3)
            f(config.width)
         """, (6,), ["config 5", "width 3"]),
        ("""
            class Config:
                width: int = 8
            config = Config(width=3)
            f(config.width)
         """, (5,), ["config 4"]),
        ("""
            class Net:
                def __init__(self, cfg):
                    self.cfg = cfg
                def f(self, x):
                    return g(x, self.cfg.width)
            class Config:
                width: int = 8
            net = Net(Config())
            net.f(3)
         """, (10, 6), ["x 10", "self.cfg 4", "Net(cfg) 9"]),
    ],
)  # fmt: skip
def test_an_attribute_is_found_in_its_class(
    code: str, numbers: tuple[int, ...], origins: list[str]
):
    assert found(code, *numbers) == origins


@pytest.mark.parametrize(
    ("call", "name", "line"),
    [
        ("lax.scan(body, a, b)", "x", 1),
        ("lax.scan(body, a, b)", "y", 2),
        ("lax.fori_loop(0, 3, body, a)", "y", 1),
        ("lax.while_loop(test, body, a)", "x", 1),
        ("lax.cond(p, other, body, a, b)", "y", 2),
        ("jax.tree.map(body, a, b)", "y", 2),
        ("lax.map(body, a)", "x", 1),
        ("jax.vjp(body, a, b)", "x", 1),
    ],
)
def test_what_a_function_of_jax_passes_on_is_followed(call: str, name: str, line: int):
    code = f"a = 1\nb = 2\ndef body(x, y):\n    return {name} + 1\n{call}"
    assert found(code, 5, 4) == [f"{name} 5", f"{'ab'[line - 1]} {line}"]


@pytest.mark.parametrize(
    ("loop", "origins"),
    [
        ("for x in batches(3):", ["x 8", "batches yields 4"]),
        ("for i, x in enumerate(batches(3)):", ["x 8", "batches yields 4"]),
        ("for i, x in zip(names, batches(3)):", ["x 8", "batches yields 4"]),
        ("for x, i in enumerate(batches(3)):", ["x 8"]),
        ("for x in loader:", ["x 8", "iterating yields 7"]),
        ("for i, x in enumerate(loader):", ["x 8", "iterating yields 7"]),
        ("for x in other:", ["x 8"]),
    ],
)
def test_the_items_of_a_loop_are_followed(loop: str, origins: list[str]):
    code = f"""\
        loader = Loader()
        def batches(n):
            for i in range(n):
                yield 4
        class Loader:
            def __iter__(self):
                yield 7
        {loop}
            f(x)
    """
    assert found(code, 9) == origins


def test_an_instance_of_itself_ends():
    code = "class A:\n  def __init__(self, x):\n    self.x = A(x)\n  def f(self):\n    self.x + 1"
    assert found(code, 5) == ["self.x 3"]
    code = code.replace("self.x = A(x)", "self.x = x\n    A(x)")
    assert found(code, 6) == ["self.x 3"]


def test_another_file_is_named():
    files = {"/a/main.py": "x = 3\nf(x)\n", "/a/helpers.py": "def f(y):\n    return y + 1\n"}
    places = ("/a/main.py", 2), ("/a/helpers.py", 2)
    (first, second) = origins_of(Symptom(files=files, places=places))
    assert (first.name, first.line, first.file) == ("y", 2, "main.py")
    assert (second.name, second.line, second.file) == ("x", 1, "main.py")


def test_code_cannot_write_to_the_terminal():
    (one,) = origins_of(
        Symptom(files={"": "x = '\x1b]0;evil\x07\u202e'\nx + 1"}, places=(("", 2),))
    )
    assert not {"\x1b", "\x07", "\u202e"} & {*one.code}


LINES = [
    *DECODE.split("\n"), "def f(", "x = (", "return", "lambda x: x", "[x for x in y]", "del x",
    "class A:", "  w: int = 3", "  def __init__(self, x):", "    self.x = A(x)", "    self.x = x",
    "  def f(self, x):", "    return self.x[x].w", "    for x in self.x:", "      yield x",
    "    self.x.append(x)", "a = A(3)", "for i, x in enumerate(a):", "  a['x'] = lax.scan(f, a, x)",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES)))
@settings(deadline=None)
def test_any_code_is_accepted(lines: list[str]):
    code = "\n".join(lines)
    for number in range(1, len(lines) + 1):
        places = ("", 1), ("", number)
        assert len(origins_of(Symptom(files={"": code}, places=places))) <= MAX_SHOWN


@pytest.mark.parametrize(
    "line",
    ["    return x\n", "    x = x\n", "    def f(x): x\n", "    x = " + "x(" * 90 + ")" * 90 + "\n",
     "    lambda x: x\n", "    [x for x in x]\n", "    x = (" * 60 + "\n", "-" * 30_000],
)  # fmt: skip
def test_no_code_can_hold_up_the_process_that_judges_it(line: str):
    code = "def x(x):\n" + line * (MAX_SOURCE // len(line) - 10) + "    x(x, x.x, self.x)\nx(x)"
    last = code.count("\n") + 1
    places = (("", last), *[("", last - 1)] * 40)
    assert len(origins_of(Symptom(files={"": code}, places=places))) <= MAX_SHOWN


def noted(code: str, *numbers: int, exception: str = "TypeError") -> list[tuple[str, int, str]]:
    """Return what is said besides where names were set, with the names and the lines."""
    places = tuple(("a.py", number) for number in numbers)
    symptom = Symptom(exception=exception, files={"a.py": dedent(code)}, places=places)
    return [(one.name, one.line, one.returns) for one in origins_of(symptom) if one.returns]


@pytest.mark.parametrize(
    ("function", "call", "default"),
    [
        ("def f(b, a=3):", "f(x)", "3"),
        ("def f(b=1, a=None, c=2):", "f(c=x)", "None"),
        ("def f(b, *, a=3):", "f(x)", "3"),
        ("@partial(jax.jit, static_argnames='a')\ndef f(b, a=3):", "f(x)", "3"),
        ("@with_settings\ndef f(b, a=3):", "f(x)", ""),
        ("def f(b, a=3):", "f(x, y)", ""),
        ("def f(b, a=3):", "f(x, a=y)", ""),
        ("def f(b, a=3):", "f(x) + f(y)", ""),
        ("def f(b, a=3):", "other(x)", ""),
    ],
)
def test_a_parameter_for_which_nothing_is_passed_keeps_its_default(
    function: str, call: str, default: str
):
    code = f"{function}\n    return a + 1\n{call}"
    note = f"Nothing is passed for `a`, so it keeps its default: {default}."
    last = len(code.split("\n"))
    assert noted(code, last, last - 1) == ([("a", last - 2, note)] if default else [])


@pytest.mark.parametrize(
    ("body", "nothing"),
    [
        ("    print(x)", True),
        ("    for i in x:\n        y = i", True),
        ("    '''Says.'''\n    x += 1", True),
        ("    return", False),
        ("    return x", False),
        ("    yield x", False),
        ("    raise NotImplementedError", False),
        ("    ...", False),
    ],
)
def test_a_function_without_return_returns_none(body: str, nothing: bool):
    code = f"def f(x):\n{body}\n\ny = f(1)\ny + 1"
    note = [("f returns", 1, "It has no `return`, so it returns None.")]
    assert noted(code, len(code.split("\n"))) == (note if nothing else [])


@pytest.mark.parametrize(
    ("mark", "traced"),
    [
        ("@jax.jit", True),
        ("@jit", True),
        ("@partial(jax.jit, static_argnames=('n',))", True),
        ("@jax.jit(static_argnums=1)", True),
        ("@functools.partial(jax.jit, static_argnames=['m', 'n'])", False),
        ("@jax.jit(static_argnums=0)", False),
        ("@partial(jax.jit, static_argnums=STATIC)", False),
        ("@partial(jax.jit, **OPTIONS)", False),
        ("@numba.jit", False),
        ("@jax.checkpoint", False),
    ],
)
def test_an_argument_of_a_compiled_function_is_traced_unless_it_is_static(mark: str, traced: bool):
    code = f"{mark}\ndef f(m, n):\n    return range(m)\n\nf(3, 4)"
    note = "`f` is compiled, so its argument `m` is traced; `static_argnames` can exempt it."
    expected = [("m", 2, note)] if traced else []
    assert noted(code, 5, 3, exception="TracerIntegerConversionError") == expected
    assert noted(code, 5, 3, exception="ValueError") == []


@pytest.mark.parametrize(
    "code",
    [
        "async def f(x):\n    return x\n\nf(1)['a']",
        "@timed\ndef f(x):\n    return x\n\nf(1) + 1",
        "try:\n    g()\nexcept ValueError as e:\n    e + 1",
        "step = 0\ndef log():\n    step += 1\nlog()",
        "lr = 1\ndef f():\n    lr + 1\n    lr = 2\nf()",
    ],
)
def test_what_may_mean_something_else_is_not_shown(code: str):
    number = {"try:": 4, "step": 3, "lr =": 3}.get(code[:4], len(code.split("\n")))
    assert found(code, number) == []


@pytest.mark.parametrize(
    "code",
    [
        "@jax.jit\ndef f(x):\n    return x\n\nf(1) + 1",
        "@partial(jax.vmap, in_axes=0)\ndef f(x):\n    return x\n\nf(1) + 1",
    ],
)
def test_decorators_that_keep_results_are_followed(code: str):
    assert found(code, 5) == ["f returns 3"]


@pytest.mark.parametrize(
    ("body", "falls"),
    [
        ("    for i in x:\n        if i:\n            return i", True),
        ("    if x:\n        return x", True),
        ("    if x:\n        return x\n    print(x)", True),
        ("    if x:\n        return x\n    else:\n        return 1", False),
        ("    if x:\n        return x\n    raise ValueError", False),
        ("    while True:\n        return x", False),
        ("    with x:\n        return x", False),
        ("    try:\n        return x\n    except ValueError:\n        return 1", False),
        ("    return x", False),
        ("    for i in x:\n        yield i", False),
    ],
)
def test_a_function_that_may_reach_its_end_returns_none_then(body: str, falls: bool):
    code = f"def f(x):\n{body}\n\ny = f(1)\ny + 1"
    notes = [note for _, _, note in noted(code, len(code.split("\n")))]
    assert notes == (["Where it reaches no `return`, it returns None."] if falls else [])
