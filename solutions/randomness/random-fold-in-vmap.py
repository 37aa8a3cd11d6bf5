"""A key has an address: a position, a step, an epoch and an id.

No key is carried from one call to the next, so calls can be made in any order, or again.
"""

import jax


def each_row(f, key, xs):
    return jax.vmap(f)(jax.random.split(key, len(xs)), xs)


def run(f, key, state, steps):
    def body(state, step):
        return f(jax.random.fold_in(key, step), state), None

    state, _ = jax.lax.scan(body, state, steps)
    return state


def augment(f, key, epoch, ids, xs):
    epoch_key = jax.random.fold_in(key, epoch)
    keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(epoch_key, ids)
    return jax.vmap(f)(keys, xs)
