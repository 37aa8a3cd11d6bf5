"""Sums by einsum, the first n by a cumulative sum."""

import jax
import jax.numpy as jnp
from jax.experimental.checkify import check, checkify


def mean_log(p, weight):
    share = weight / weight.sum()
    return jnp.einsum("i,i->", share, jnp.log(jnp.where(weight > 0, p, jnp.exp(0.0))))


def mse(prediction, target):
    (column,) = prediction.T
    return jnp.einsum("i,i->", column - target, column - target) / target.shape[0]


@jax.jit
def mean_until(x, n):
    i = jnp.arange(len(x))
    return jnp.cumsum(jnp.where(i < n, x, 0))[-1] / n


def _log(x):
    check(jnp.all(jnp.greater(x, 0)), "The input x must be > 0 everywhere")
    return jnp.log(x)


def checked_log(x):
    return checkify(_log)(x)
