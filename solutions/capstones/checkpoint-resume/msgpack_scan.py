import os
from pathlib import Path

import flax.serialization
import jax
import jax.numpy as jnp
import optax


def start(tx, params, key):
    return (params, tx.init(params), jax.random.key_data(key), jnp.zeros((), jnp.int32))


def fit(tx, loss, state, xs, ys, until):
    def body(state, _):
        params, opt, data, count = state
        key, sub = jax.random.split(jax.random.wrap_key_data(data))
        i = count % len(xs)
        value, grads = jax.value_and_grad(loss)(params, sub, xs[i], ys[i])
        updates, opt = tx.update(grads, opt, params)
        params = optax.apply_updates(params, updates)
        return (params, opt, jax.random.key_data(key), count + 1), value

    return jax.lax.scan(body, state, length=until - int(state[3]))


def read(state):
    return state[0], state[3]


def save(path, state):
    data = flax.serialization.to_bytes(state)
    Path(path + ".tmp").write_bytes(data)
    os.replace(path + ".tmp", path)


def restore(path, like):
    state = flax.serialization.from_bytes(like, Path(path).read_bytes())
    return jax.tree.map(jnp.asarray, state)
