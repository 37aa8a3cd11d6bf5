import collections
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random, tree_util


def order(key, epoch, n, size):
    epoch_key = random.split(random.fold_in(key, epoch), 1)[0]
    permuted = random.permutation(epoch_key, n)
    return jnp.stack(jnp.split(permuted[: (n // size) * size], n // size)).astype(jnp.int32)


def fit(step, state, key, data, size, epochs):
    n = tree_util.tree_leaves(data)[0].shape[0]
    steps = n // size

    def one_epoch(epoch, carry):
        rows = order(key, epoch, n, size)

        def one_step(i, carry):
            state, losses = carry
            batch = tree_util.tree_map(lambda a: jnp.take(a, rows[i], axis=0), data)
            state, loss = step(state, batch)
            return state, losses.at[epoch, i].set(loss)

        return lax.fori_loop(0, steps, one_step, carry)

    def one_batch(a):
        return jax.ShapeDtypeStruct((size, *a.shape[1:]), a.dtype)

    loss = jax.eval_shape(step, state, tree_util.tree_map(one_batch, data))[1]
    losses = jnp.zeros((epochs, steps), jnp.result_type(loss))
    return lax.fori_loop(0, epochs, one_epoch, (state, losses))


def padded(data, size):
    n = tree_util.tree_leaves(data)[0].shape[0]
    for first in range(0, n, size):
        rows = np.arange(first, first + size)
        mask = rows < n

        def take(a, rows=rows, mask=mask):
            part = a[np.minimum(rows, n - 1)].copy()
            part[~mask] = 0
            return part

        yield tree_util.tree_map(take, data), mask


def prefetch(source, depth):
    copies = (tree_util.tree_map(lambda a: jnp.asarray(np.copy(a)), b) for b in source)
    waiting = collections.deque(itertools.islice(copies, depth))
    for batch in copies:
        ready = waiting.popleft()
        waiting.append(batch)
        yield ready
    yield from waiting
