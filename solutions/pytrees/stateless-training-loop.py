"""The state holds all that changes, so a step is a function, and a training is a fold over batches.

`step` has the signature that `scan` wants: what is carried on comes first, what is kept second.
"""

import jax
import jax.numpy as jnp

w_afterwards = 0.75


def start(params, stats):
    return params, jax.tree.map(jnp.zeros_like, params), stats


def step(loss, state, x, y, lr):
    params, momentum, stats = state
    (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(params, stats, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - lr * m, params, momentum)
    return (params, momentum, stats), value


def fit(loss, state, xs, ys, lr):
    def body(state, batch):
        return step(loss, state, *batch, lr)

    return jax.lax.scan(body, state, (xs, ys))


def read(state):
    params, _, stats = state
    return params, stats
