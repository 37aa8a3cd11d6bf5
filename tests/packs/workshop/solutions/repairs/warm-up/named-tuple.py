from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    w: jax.Array
    rate: jax.Array


def loss(w, x, y):
    return ((x @ w - y) ** 2).mean()


def start(w):
    return State(w, jnp.array(0.25))


@jax.jit
def step(state, x, y, lr):
    w = state.w - lr * state.rate * jax.grad(loss)(state.w, x, y)
    rate = jax.lax.cond(state.rate < 1, lambda r: r + 0.25, lambda r: r, state.rate)
    return State(w, rate)


def weights(state):
    return state.w
