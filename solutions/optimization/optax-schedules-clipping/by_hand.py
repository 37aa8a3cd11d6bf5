"""No optax but its type: a hand-written transformation with a tuple as its state."""

import jax
import jax.numpy as jnp
import optax

clipped_last = [-0.6, -0.8]


def make_schedule(peak, warmup, epochs, batches):
    warm, total = warmup * batches, epochs * batches

    def schedule(count):
        rise = peak * (0.1 + 0.9 * count / warm)
        part = jnp.clip((count - warm) / (total - warm), 0, 1)
        fall = peak * (0.01 + 0.99 * 0.5 * (1 + jnp.cos(jnp.pi * part)))
        return jnp.where(count < warm, rise, fall)

    return schedule


def make_tx(schedule, max_norm):
    def init(params):
        return 0, jax.tree.map(jnp.zeros_like, params)

    def update(grads, state, params=None):
        count, momentum = state
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
        factor = jnp.minimum(1.0, max_norm / (norm + 1e-6))
        momentum = jax.tree.map(lambda m, g: 0.9 * m + factor * g, momentum, grads)
        rate = schedule(count)
        return jax.tree.map(lambda m: -rate * m, momentum), (count + 1, momentum)

    return optax.GradientTransformation(init, update)


def next_rate(schedule, state):
    count, _ = state
    return schedule(count)
