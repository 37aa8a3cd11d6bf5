from collections import deque
from itertools import islice

import jax
import jax.numpy as jnp
import numpy as np


def order(key, epoch, n, size):
    key = jax.random.fold_in(key, jnp.uint32(epoch))
    rows = jax.random.choice(key, n, (n,), replace=False)
    return rows[: n - n % size].reshape(n // size, size).astype("int32")


def fit(step, state, key, data, size, epochs):
    n = len(jax.tree.leaves(data)[0])
    rows = jax.lax.map(lambda epoch: order(key, epoch, n, size), jnp.arange(epochs))
    rows = rows.reshape(-1, size)

    @jax.jit
    def run(state, data):
        return jax.lax.scan(
            lambda state, r: step(state, jax.tree.map(lambda a: a[r], data)), state, rows
        )

    state, losses = run(state, data)
    return state, losses.reshape(epochs, n // size)


def padded(data, size):
    leaves, structure = jax.tree.flatten(data)
    n = len(leaves[0])
    for first in range(0, n, size):
        rows = range(first, min(first + size, n))
        rest = size - len(rows)
        parts = [leaf[rows[0] : rows[-1] + 1] for leaf in leaves]
        parts = [np.concatenate([p, np.zeros_like(p, shape=(rest, *p.shape[1:]))]) for p in parts]
        yield structure.unflatten(parts), np.array([True] * len(rows) + [False] * rest)


def prefetch(source, depth):
    source, ready = iter(source), deque()
    while True:
        for batch in islice(source, depth - len(ready)):
            ready.append(jax.tree.map(lambda a: jax.device_put(np.array(a, copy=True)), batch))
        if not ready:
            return
        yield ready.popleft()
