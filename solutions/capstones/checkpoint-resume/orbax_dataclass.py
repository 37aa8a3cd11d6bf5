import os
import shutil
from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp


@flax.struct.dataclass
class State:
    params: Any
    opt: Any
    key: jax.Array
    count: jax.Array


def start(tx, params, key):
    return State(params, tx.init(params), key, jnp.int32(0))


def fit(tx, loss, state, xs, ys, until):
    @jax.jit
    def step(state, x, y):
        key, sub = jax.random.split(state.key)
        value, grads = jax.value_and_grad(loss)(state.params, sub, x, y)
        updates, opt = tx.update(grads, state.opt, state.params)
        params = optax.apply_updates(state.params, updates)
        return State(params, opt, key, state.count + 1), value

    values = []
    while state.count < until:
        i = state.count % len(xs)
        state, value = step(state, xs[i], ys[i])
        values.append(value)
    return state, values


def read(state):
    return state.params, state.count


def save(path, state):
    jax.block_until_ready(state)  # Raises here, and not in Orbax's thread, if one was deleted.
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(path + "-new", state, force=True)
    shutil.rmtree(path, ignore_errors=True)
    os.rename(path + "-new", path)


def restore(path, like):
    with ocp.StandardCheckpointer() as checkpointer:
        return checkpointer.restore(path, like)
