"""Gradients as one vector: its norm is the norm of the tree."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

clipped_last = [-0.6, -0.8]


class State(NamedTuple):
    steps: jax.Array
    momentum: jax.Array


def make_schedule(peak, warmup, epochs, batches):
    counts = jnp.array([0, warmup * batches])
    total = epochs * batches

    def schedule(count):
        warm = jnp.interp(count, counts, jnp.array([peak / 10, peak]))
        part = jnp.clip(count - counts[1], 0) / (total - counts[1])
        cosine = (1 + jnp.cos(jnp.pi * jnp.minimum(part, 1))) / 2
        return warm * (0.01 + 0.99 * cosine)

    return schedule


def make_tx(schedule, max_norm):
    def init(params):
        return State(jnp.zeros((), jnp.int32), jnp.zeros_like(ravel_pytree(params)[0]))

    def update(grads, state, params=None):
        flat, unravel = ravel_pytree(grads)
        norm = jnp.linalg.norm(flat)
        flat = jax.lax.cond(norm > max_norm, lambda g: g * (max_norm / norm), lambda g: g, flat)
        momentum = 0.9 * state.momentum + flat
        return unravel(-schedule(state.steps) * momentum), State(state.steps + 1, momentum)

    return optax.GradientTransformation(init, update)


def next_rate(schedule, state):
    return schedule(state.steps)
