"""Parameters as one vector inside the step, and the state as nested tuples."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

w_afterwards = 0.75


def start(params, stats):
    return (params, jnp.zeros_like(ravel_pytree(params)[0])), stats


def step(loss, state, x, y, lr):
    (params, momentum), stats = state
    vector, unravel = ravel_pytree(params)
    both = jax.value_and_grad(lambda v: loss(unravel(v), stats, x, y), has_aux=True)
    (value, stats), grad = both(vector)
    momentum = grad + momentum * 0.9
    return ((unravel(vector - lr * momentum), momentum), stats), value


def fit(loss, state, xs, ys, lr):
    def body(state, batch):
        x, y = batch
        return step(loss, state, x, y, lr)

    return jax.lax.scan(f=body, init=state, xs=(xs, ys), unroll=2)


def read(state):
    return state[0][0], state[1]
