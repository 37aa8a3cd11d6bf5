"""`pure`: a function that writes into its arguments fails, one that writes into its own copies
passes, although the check's expression makes the arguments."""

from tests.cases import for_each
from tests.checks.one_check import result_of
from tutor.checks.pure import Pure
from tutor.pool.forks import Forks

HEAD = """
import copy
import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

def start(x):
    return {"w": x, "seen": [x, {"n": jnp.zeros(())}]}

def read(state):
    return state["w"], state["seen"]

"""
CLASS = """
@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    w: Any
    seen: Any

def start(x):
    return State(x, [x])

def read(state):
    return state.w, state.seen

"""
PURE = Pure(pure="read(step(start(x), x))")
HARNESS = """
def trained(start, step, x):
    state = start(x)
    for _ in range(3):
        state = step(state, x=x)
    return state
"""
LOOP = Pure(pure="read(trained(start, step, x))")
NUMPY = Pure(pure="step(np.ones(3), x)", jit=False)

WRONG: dict[str, tuple[Pure, str, str]] = {
    "an entry": (PURE, """
def step(state, x):
    state["w"] = state["w"] + x
    return state
""", "`step` writes into its argument `state`, at ['w']"),
    "an entry of a list inside": (PURE, """
def step(state, x):
    state["seen"][1]["n"] = state["seen"][1]["n"] + 1
    return dict(state)
""", "at ['seen'][1]['n']"),
    "a new entry": (PURE, """
def step(state, x):
    state["seen"].append(x)
    return dict(state)
""", "at ['seen']"),
    "an entry is taken out, and the harness calls": (LOOP, """
def step(state, x):
    return {"w": state.pop("w") + x, "seen": state["seen"]}
""", "argument `state`"),
    "by a function that it calls": (PURE, """
def add(state, x):
    state.update(w=state["w"] + x)

def step(state, x):
    add(state, x)
    return state
""", "at ['w']"),
    "a field": (PURE, CLASS + """
def step(state, x):
    state.w = state.w + x
    return state
""", "at ['w']"),
    "a NumPy array": (NUMPY, """
def step(total, x):
    total += np.asarray(x).sum()
    return total * 1
""", "argument `total`:"),
    "what it is given by position": (PURE, """
def step(*arguments):
    state, x = arguments
    state["w"] = x + 1
    return state
""", "argument `1`, at ['w']"),
}  # fmt: skip
RIGHT: dict[str, tuple[Pure, str]] = {
    "a new dict": (PURE, """
def step(state, x):
    return {**state, "w": state["w"] + x}
"""),
    "its own copy": (PURE, """
def step(state, x):
    state = copy.deepcopy(state)
    state["w"] += x
    state["seen"].append(x)
    return state
"""),
    "what jit gave it": (LOOP, """
@jax.jit
def step(state, x):
    state["w"] = state["w"] + x
    state["seen"][1]["n"] += 1
    return state
"""),
    "its own local list": (PURE, """
def add(parts, x):
    parts.append(x)

def step(state, x):
    parts = []
    add(parts, x)
    return {"w": state["w"] + sum(parts), "seen": state["seen"]}
"""),
    "a donated state": (PURE, """
@functools.partial(jax.jit, donate_argnums=0)
def step(state, x):
    return {**state, "w": state["w"] + x}

def start(x):
    return {"w": x + 0, "seen": [x + 1, {"n": jnp.zeros(())}]}
"""),
    "a function of a partial": (PURE, """
def _step(rate, state, x):
    return {**state, "w": state["w"] - rate * x}

step = functools.partial(_step, 0.1)
"""),
    "a new object": (PURE, CLASS + """
def step(state, x):
    state = dataclasses.replace(state, seen=[*state.seen])
    state.w = state.w + x
    state.seen.append(x)
    return state
"""),
    "a module of nnx": (Pure(pure="step(start(x), x)", jit=False), """
def start(x):
    return nnx.BatchNorm(3, rngs=nnx.Rngs(0))

def step(model, x):
    return model(x), model.mean[...]
"""),
}  # fmt: skip


INPUTS = {"x": "normal(4, 3)"}


@for_each("style", RIGHT)
def test_functions_may_write_into_what_is_theirs(style: str, forks: Forks):
    check, code = RIGHT[style]
    result = result_of(check, HEAD + code, INPUTS, forks, HARNESS)
    assert result.status == "pass", result.text


@for_each("mistake", WRONG)
def test_functions_must_not_write_into_what_they_are_given(mistake: str, forks: Forks):
    check, code, words = WRONG[mistake]
    result = result_of(check, HEAD + code, INPUTS, forks, HARNESS)
    assert result.status == "fail"
    assert words in result.text
