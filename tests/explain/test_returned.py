"""What calls of libraries return: each entry of the table is true, and recognised."""

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from tutor.explain import Symptom
from tutor.explain.origins import calls_of, origins_of
from tutor.explain.parsed_file import frame_at, parsed
from tutor.explain.returned import TABLE, Table, returned_by, table

PRELUDE = """\
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax import nnx, traverse_util
from flax.training import train_state
from jax import lax
from jax.flatten_util import ravel_pytree

x = jnp.arange(1.0, 13).reshape(4, 3)
key = jax.random.key(0)
linear = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
rngs = nnx.Rngs(0)


def made(f):
    class Net(nn.Module):
        @nn.compact
        def __call__(self):
            return f()

    return Net().init_with_output(key)[0]


"""

PROOFS = yaml.safe_load(Path(__file__).with_name("returned.yaml").read_text())


def said(code: str, line: int = 0) -> str:
    """Return what is said of the call in a line of code, by default the last one."""
    file = parsed("a.py", code)
    assert file is not None
    frame = frame_at(file, line or len(code.splitlines()))
    assert frame is not None
    assert isinstance(frame.statement, ast.Assign | ast.Return)
    return returned_by(frame.statement.value, frame)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda one: one["call"] + one.get("has", ""))
def test_entries_are_true_of_the_calls_that_they_are_recognised_by(proof: dict[str, Any]):
    code = PRELUDE + proof["code"]
    line = proof.get("line", 0) and PRELUDE.count("\n") + proof["line"]
    meant = [
        one for one in table() if proof["call"] in one.calls and one.has == proof.get("has", "")
    ]
    assert [one.returns for one in meant] == [said(code, line)]
    names: dict[str, Any] = {}
    exec(compile(code, "a.py", "exec"), names)
    assert eval(proof["holds"], names), proof["holds"]


def test_the_table_is_valid():
    tree = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    assert msgspec.convert(tree, Table).returned == table()


def test_each_entry_has_a_proof():
    proved = {(one["call"], one.get("has", "")) for one in PROOFS}
    assert [(call, one.has) for one in table() for call in one.calls
            if (call, one.has) not in proved] == []  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        "import requests\nout = requests.get('x')",
        "import numpy as np\nout = np.append([1], 2)",
        "import jax\ndef f(x):\n    return x\n\nout = f(jax.vjp)",
        "import jax\nout = jax.vjp(f, 1.0)[0]",
        "import jax\nfrom own import jax\nout = jax.vjp(f, 1.0)",
        "class Env:\n    def init(self, key, x):\n        return x\n\nout = Env().init(key, x)",
        "def map(f, xs):\n    return xs\n\nout = map(f, xs)",
        "def zip(*xs):\n    return [*xs]\n\nout = zip(xs)",
        "import jax\ng = jax.vjp\ng = f\nout = g(x)",
        "f = f\nout = f(1)",
    ],
)
def test_nothing_is_said_of_other_calls(code: str):
    assert said(code) == ""


def test_what_calls_return_is_shown_below_where_a_name_was_set():
    code = (
        "import jax\n\n\ndef loss(p):\n    return p\n\n\ndef train(p):\n"
        "    grads = jax.value_and_grad(loss)(p)\n    return p - grads\n\n\ntrain(1.0)\n"
    )
    places = (("a.py", 13), ("a.py", 10))
    found = origins_of(Symptom(files={"a.py": code}, places=places, frames=("", "p - grads")))
    assert [(one.name, one.returns) for one in found if one.returns] == [
        ("grads", "This returns a pair: the value first, then the gradients.")
    ]


def test_an_element_of_what_a_function_returns_is_followed():
    code = """\
import jax


def derive(loss, p):
    found = jax.value_and_grad(loss)(p)
    return found[0], found


def step(loss, p):
    value, grads = derive(loss, p)
    value, other = derive(loss, p)
    return p - grads


step(abs, 1.0)
"""
    places = (("a.py", 15), ("a.py", 12))
    symptom = Symptom(files={"a.py": code}, places=places, frames=("", "p - grads"))
    assert [(one.name, one.line) for one in origins_of(symptom)] == [
        ("p", 15), ("grads", 10), ("derive returns", 6), ("found", 5),
    ]  # fmt: skip
    assert calls_of(symptom) == {"jax.value_and_grad()()"}


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("grads = jax.value_and_grad(f)(x)\ng(grads)", {"jax.value_and_grad()()"}),
        ("value, grads = jax.value_and_grad(f)(x)\ng(grads)", set()),
        ("grads = jax.value_and_grad(f)(x)[1]\ng(grads)", set()),
        ("both = jax.value_and_grad(f)(x)\ng(both[1])", set()),
        ("grads = jax.value_and_grad(f)(x)\ng(grads['w'])", {"jax.value_and_grad()()"}),
        ("both = jax.value_and_grad(f)(x)\ngrads = both\ng(grads)", {"jax.value_and_grad()()"}),
        ("both = jax.value_and_grad(f)(x)\ngrads = both[1]\ng(grads)", set()),
        ("a, b = jax.vjp(f, x), jax.jvp(f, x, x)\ng(b)", {"jax.jvp()"}),
        ("tx = optax.adam(1.0)\nstate = tx.init(x)\ng(state)", {"optax.adam().init()"}),
    ],
)
def test_calls_of_which_a_name_is_the_whole_result(code: str, calls: set[str]):
    code = f"import jax\nimport optax\n{code}"
    places = (("a.py", len(code.split("\n"))),)
    assert calls_of(Symptom(files={"a.py": code}, places=places)) == calls
