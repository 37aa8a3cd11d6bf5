"""An epoch is a scan over row numbers; what the host gives is copied before it is asked for."""

from collections import deque

import jax
import jax.numpy as jnp
import numpy as np


def order(key, epoch, n, size):
    rows = jax.random.permutation(jax.random.fold_in(key, epoch), n)
    steps = n // size
    return rows[: steps * size].reshape(steps, size)


def fit(step, state, key, data, size, epochs):
    n = len(jax.tree.leaves(data)[0])

    def one_step(state, rows):
        return step(state, jax.tree.map(lambda a: a[rows], data))

    def one_epoch(state, epoch):
        return jax.lax.scan(one_step, state, order(key, epoch, n, size))

    return jax.lax.scan(one_epoch, state, jnp.arange(epochs))


def padded(data, size):
    def filled(a):
        return np.concatenate([a, np.zeros((size - len(a), *a.shape[1:]), a.dtype)])

    n = len(jax.tree.leaves(data)[0])
    for first in range(0, n, size):
        rows = slice(first, first + size)
        part = jax.tree.map(lambda a, rows=rows: a[rows], data)
        mask = np.arange(first, first + size) < n
        yield jax.tree.map(filled, part), mask


def prefetch(source, depth):
    waiting = deque()
    for batch in source:
        waiting.append(jax.tree.map(jnp.array, batch))
        if len(waiting) == depth:
            yield waiting.popleft()
    yield from waiting
