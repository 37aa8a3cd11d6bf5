import itertools
from collections import deque
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.jit, static_argnames=("n", "size"))
def order(key, epoch, n, size):
    permutation = jax.random.permutation(
        jax.random.fold_in(key, epoch), jnp.arange(n, dtype=jnp.int32)
    )
    return jnp.reshape(permutation[: n - n % size], (-1, size))


def fit(step, state, key, data, size, epochs):
    leaves = jax.tree_util.tree_leaves(data)
    n = leaves[0].shape[0]
    rows = jax.vmap(lambda epoch: order(key, epoch, n, size))(jnp.arange(epochs))

    def body(state, index):
        batch = jax.tree_util.tree_map(lambda a: jnp.take(a, index, axis=0), data)
        return step(state, batch)

    state, losses = jax.lax.scan(body, state, rows.reshape(-1, size))
    return state, losses.reshape(epochs, -1)


def padded(data, size):
    n = jax.tree_util.tree_leaves(data)[0].shape[0]
    rest = -n % size
    full = jax.tree_util.tree_map(lambda a: np.pad(a, [(0, rest)] + [(0, 0)] * (a.ndim - 1)), data)
    mask = np.pad(np.ones(n, bool), (0, rest))
    for i in range((n + rest) // size):
        s = slice(i * size, (i + 1) * size)
        yield jax.tree_util.tree_map(lambda a, s=s: a[s], full), mask[s]


def prefetch(source, depth):
    queue, iterator = deque(), iter(source)

    def enqueue(count):
        for batch in itertools.islice(iterator, count):
            queue.append(jax.device_put(jax.tree_util.tree_map(np.array, batch)))

    enqueue(depth)
    while queue:
        yield queue.popleft()
        enqueue(1)
