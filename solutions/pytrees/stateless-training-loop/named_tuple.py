"""A NamedTuple as the state, `jax.grad` for aux, and indices for the scan."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

w_afterwards = 0.75


class State(NamedTuple):
    params: Any
    velocity: Any
    stats: Any


def start(params, stats):
    return State(params, jax.tree.map(lambda p: 0 * p, params), stats)


def step(loss, state, x, y, lr):
    def twice(params):
        value, stats = loss(params, state.stats, x, y)
        return value, (value, stats)

    grads, (value, stats) = jax.grad(twice, has_aux=True)(state.params)
    velocity = jax.tree.map(lambda v, g: g + 0.9 * v, state.velocity, grads)
    params = jax.tree.map(lambda p, v: p - v * lr, state.params, velocity)
    return state._replace(params=params, velocity=velocity, stats=stats), value


def fit(loss, state, xs, ys, lr):
    def body(state, t):
        return step(loss, state, xs[t], ys[t], lr)

    return jax.lax.scan(body, state, jnp.arange(len(xs)))


def read(state):
    return state.params, state.stats
