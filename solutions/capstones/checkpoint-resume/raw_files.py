import shutil
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax


class State(NamedTuple):
    params: Any
    opt: Any
    seed: Any
    count: Any


def start(tx, params, key):
    return State(params, tx.init(params), jax.random.key_data(key), jnp.array(0))


def fit(tx, loss, state, xs, ys, until):
    values = []
    for count in range(int(state.count), until):
        key = jax.random.fold_in(jax.random.wrap_key_data(state.seed), count)
        x, y = xs[count % len(xs)], ys[count % len(ys)]
        value, pullback = jax.vjp(lambda p, k=key, x=x, y=y: loss(p, k, x, y), state.params)
        updates, opt = tx.update(pullback(jnp.ones_like(value))[0], state.opt, state.params)
        params = optax.apply_updates(state.params, updates)
        state = State(params, opt, state.seed, state.count + 1)
        values.append(value)
    return state, values


def read(state):
    return state.params, state.count


def save(path, state):
    """A directory with the bytes of each leaf."""
    folder = Path(path + "-partial")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for i, leaf in enumerate(jax.tree.leaves(state)):
        (folder / str(i)).write_bytes(np.asarray(leaf).tobytes())
    shutil.rmtree(path, ignore_errors=True)
    folder.rename(path)


def restore(path, like):
    leaves, treedef = jax.tree.flatten(like)
    for i, leaf in enumerate(leaves):
        data = (Path(path) / str(i)).read_bytes()
        array = np.frombuffer(data, dtype=leaf.dtype).reshape(leaf.shape)
        leaves[i] = jnp.array(array)
    return jax.tree.unflatten(treedef, leaves)
