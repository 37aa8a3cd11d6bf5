from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax


def start(tx, params, key):
    return {"params": params, "opt": tx.init(params), "key": key, "count": jnp.int32(0)}


def fit(tx, loss, state, xs, ys, until):
    params, opt, key = state["params"], state["opt"], state["key"]
    values = []
    for count in range(state["count"], until):
        i, sub = count % len(xs), jax.random.fold_in(key, count)
        value, grads = jax.value_and_grad(loss)(params, sub, xs[i], ys[i])
        updates, opt = tx.update(grads, opt, params)
        params = optax.apply_updates(params, updates)
        values.append(value)
    return {"params": params, "opt": opt, "key": key, "count": jnp.int32(until)}, values


def read(state):
    return state["params"], state["count"]


def is_key(leaf):
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def storable(leaf):
    if is_key(leaf):
        return jax.random.key_data(leaf)
    return leaf.astype(jnp.float32) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf


def from_numpy(array, like):
    return jax.random.wrap_key_data(array) if is_key(like) else jnp.asarray(array, like.dtype)


def save(path, state):
    new = Path(path + ".new")
    with new.open("wb") as file:
        np.savez(file, *map(storable, jax.tree.leaves(state)))
    new.replace(path)


def restore(path, like):
    leaves, treedef = jax.tree.flatten(like)
    with np.load(path) as file:
        arrays = [file[f"arr_{i}"] for i in range(len(leaves))]
    return jax.tree.unflatten(treedef, map(from_numpy, arrays, leaves))
