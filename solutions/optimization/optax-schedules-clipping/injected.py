"""The rate as a hyperparameter in the state, the schedule with lax.cond."""

import jax
import jax.numpy as jnp
import optax

clipped_last = (-0.6, -0.8)


def make_schedule(peak, warmup, epochs, batches):
    warm, decay = warmup * batches, (epochs - warmup) * batches

    def rise(count):
        return jnp.float32(peak / 10 + (peak - peak / 10) * count / warm)

    def fall(count):
        angle = jnp.pi * jnp.minimum(count - warm, decay) / decay
        return jnp.float32(peak / 100 + (peak - peak / 100) * jnp.cos(angle / 2) ** 2)

    return lambda count: jax.lax.cond(count < warm, rise, fall, count)


def make_tx(schedule, max_norm):
    @optax.inject_hyperparams
    def build(learning_rate):
        return optax.chain(
            optax.clip_by_global_norm(max_norm),
            optax.sgd(learning_rate, momentum=0.9),
        )

    return build(schedule)


def next_rate(schedule, state):
    return schedule(state.count)
