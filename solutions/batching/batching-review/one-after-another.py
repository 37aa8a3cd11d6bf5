"""`lax.map` and `scan`: one fit, one image, one run at a time."""

import jax
import jax.numpy as jnp


def leave_one_out(fit, xs, ys):
    everyone = jnp.ones(len(xs))
    return jax.lax.map(lambda i: fit(everyone.at[i].set(0), xs, ys), jnp.arange(len(xs)))


def gradient_penalty(critic, params, xs):
    def add(total, x):
        slope = jax.grad(critic, 1)(params, x).ravel()
        return total + (jnp.sqrt(slope @ slope) - 1) ** 2, None

    total, _ = jax.lax.scan(add, jnp.zeros(()), xs)
    return total / len(xs)


def search(train, starts, rates, xs, ys):
    def row(start):
        return jax.lax.map(lambda rate: train(start, rate, xs, ys), rates)

    params, losses = jax.lax.map(row, starts)
    scores = jnp.nan_to_num(losses, nan=jnp.inf)
    j = scores.argmin(axis=1)
    i = scores.min(axis=1).argmin()
    return losses, jax.tree.map(lambda p: p[i][j[i]], params)
