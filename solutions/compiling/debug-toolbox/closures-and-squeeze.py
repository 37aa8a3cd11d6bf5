"""checkify as a decorator, shapes by reshape, lax.select for the masks."""

import jax
import jax.numpy as jnp
from jax.experimental import checkify


def mean_log(p, weight):
    safe = jax.lax.select(weight > 0, p, jnp.ones_like(p))
    return jnp.vdot(weight, jnp.log(safe)) / jnp.sum(weight)


def mse(prediction, target):
    error = prediction.reshape(target.shape) - target
    return jnp.vdot(error, error) / error.size


@jax.jit
def mean_until(x, n):
    count = jax.lax.iota(jnp.int32, x.shape[0])
    kept = jax.lax.select(count < n, x, jnp.zeros_like(x))
    return jnp.sum(kept) / n


@checkify.checkify
def checked_log(x):
    checkify.check((x > 0).all(), "x must be > 0")
    return jnp.log(x)
