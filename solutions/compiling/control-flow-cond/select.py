import functools
import operator

import jax
import jax.numpy as jnp


def choose(pred, f, g, x):
    return jax.lax.cond(jnp.logical_not(pred), g, f, x)


def dispatch(i, fs, x):
    fs = [lambda x: x] + list(fs)
    index = jnp.select([i < 0, i >= len(fs) - 1], [0, 0], i + 1)
    return jax.lax.switch(index, fs, x)


def huber(r, delta):
    small = jnp.abs(r) <= delta
    return jax.lax.select(
        jnp.broadcast_to(small, jnp.shape(r)), 0.5 * r * r, delta * jnp.abs(r) - 0.5 * delta**2
    )


def guarded_step(params, grads, lr):
    finite = functools.reduce(
        operator.and_, [jnp.all(jnp.isfinite(g)) for g in grads.values()], jnp.bool_(True)
    )
    return {k: jnp.where(finite, p - lr * grads[k], p) for k, p in params.items()}
