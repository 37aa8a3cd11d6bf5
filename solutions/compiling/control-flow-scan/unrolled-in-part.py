from functools import partial

import jax
import jax.numpy as jnp


def rollout(step, s, us):
    def body(s, u):
        return (new := step(s, u)), new

    states = jax.lax.scan(body, s, us, unroll=4)[1]
    return jnp.concatenate((s.reshape(1, -1), states), axis=0)


def smooth(xs, a):
    def body(y, x):
        return (a * y + (1 - a) * x,) * 2

    # The first turn mixes x[0] with itself.
    _, ys = jax.lax.scan(body, xs[:, 0], jnp.moveaxis(xs, 1, 0), unroll=2)
    return jnp.moveaxis(ys, 0, 1)


def train(step, params, xs, ys):
    params, losses = jax.lax.scan(lambda p, row: step(p, row[0], row[1]), params, (xs, ys))
    return params, losses


@partial(jax.jit, static_argnums=0)
def last_state(step, s, us, length):
    kept = jnp.arange(us.shape[0]) < length

    def body(s, row):
        u, keep = row
        return jax.lax.select(jnp.full(s.shape, keep), step(s, u), s), ()

    return jax.lax.scan(body, s, (us, kept))[0]
