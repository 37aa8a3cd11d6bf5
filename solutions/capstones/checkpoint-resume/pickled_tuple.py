import pickle
from typing import Any, NamedTuple

import jax
import optax


class State(NamedTuple):
    params: Any
    opt: Any
    key: Any
    count: int


def start(tx, params, key):
    return State(params, tx.init(params), key, 0)


def fit(tx, loss, state, xs, ys, until):
    params, opt, key, count = state
    keys = jax.random.split(key, 1000)
    values = []
    while count < until:
        batch = count % xs.shape[0]
        value, grads = jax.value_and_grad(loss)(params, keys[count], xs[batch], ys[batch])
        updates, opt = tx.update(grads, opt, params)
        params = optax.apply_updates(params, updates)
        count += 1
        values.append(value)
    return State(params, opt, key, count), jax.numpy.array(values)


def read(state):
    return state.params, state.count


def save(path, state):
    data = pickle.dumps(state)
    with open(path, "wb") as file:
        file.write(data)


def restore(path, like):
    with open(path, "rb") as file:
        return pickle.load(file)
