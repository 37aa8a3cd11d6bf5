"""A chain with names, a schedule from prepared rates, and clip written with optax's norm."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

clipped_last = [-0.6, -0.8]


def make_schedule(peak, warmup, epochs, batches):
    warm, total = warmup * batches, epochs * batches
    rise = np.linspace(peak / 10, peak, warm + 1)[:-1]
    fall = (1 + np.cos(np.linspace(0, np.pi, total - warm + 1))) / 2
    rates = jnp.asarray(np.concatenate([rise, peak / 100 + 0.99 * peak * fall]), jnp.float32)
    return lambda count: rates[jnp.minimum(count, total)]


def make_tx(schedule, max_norm):
    def clip(grads, params):
        norm = optax.global_norm(grads)
        return jax.tree.map(lambda g: jnp.where(norm > max_norm, g / norm * max_norm, g), grads)

    return optax.named_chain(
        ("clip", optax.stateless(clip)),
        ("sgd", optax.sgd(learning_rate=schedule, momentum=0.9)),
    )


def next_rate(schedule, state):
    _, scale = state["sgd"]
    return schedule(scale.count)
