"""Functions of one entry under vmap, a cond for the log, a while loop of the first n."""

import jax
import jax.numpy as jnp
from jax.experimental import checkify


def mean_log(p, weight):
    def one(p, w):
        return jnp.where(w > 0, w * jnp.log(jnp.where(w > 0, p, 1.0)), 0.0)

    return jax.vmap(one)(p, weight).sum() / weight.sum()


def mse(prediction, target):
    return jax.vmap(lambda p, t: (p[0] - t) ** 2)(prediction, target).mean()


def _mean(x, n):
    def add(total, pair):
        i, value = pair
        return jax.lax.cond(i < n, lambda: total + value, lambda: total), None

    total, _ = jax.lax.scan(add, 0.0, (jnp.arange(x.shape[0]), x))
    return total / n


mean_until = jax.jit(_mean)


def checked_log(x):
    def log(x):
        lowest = jnp.min(x)
        checkify.check(lowest > 0, "x must be > 0: {x}", x=lowest)
        return jnp.log(x)

    return checkify.checkify(log, errors=checkify.user_checks)(x)
