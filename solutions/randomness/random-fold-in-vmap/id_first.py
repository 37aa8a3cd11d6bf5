"""The id before the epoch: every image has a key, and every epoch a key of that."""

from functools import partial

import jax

fold_rows = jax.vmap(jax.random.fold_in, (None, 0))


def each_row(f, key, xs):
    keys = jax.random.split(key, xs.shape[:1])
    return jax.vmap(lambda k, x: f(k, x), in_axes=(0, 0))(keys, xs)


def run(f, key, state, steps):
    keys = fold_rows(key, steps)
    state, _ = jax.lax.scan(lambda state, k: (f(k, state), None), state, keys)
    return state


def augment(f, key, epoch, ids, xs):
    image_keys = fold_rows(key, ids)
    keys = jax.vmap(partial(lambda e, k: jax.random.fold_in(k, e), epoch))(image_keys)
    return jax.vmap(f)(keys, xs)
