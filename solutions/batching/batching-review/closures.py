"""Closures over what is shared, masks from indices, `where` for the NaNs."""

import jax
import jax.numpy as jnp


def leave_one_out(fit, xs, ys):
    rows = jnp.arange(len(xs))
    return jax.vmap(lambda i: fit(jnp.where(rows == i, 0.0, 1.0), xs, ys))(rows)


def gradient_penalty(critic, params, xs):
    slopes = jax.vmap(jax.grad(lambda x: critic(params, x)))(xs)
    norms = jnp.sqrt((slopes**2).sum(axis=(1, 2)))
    return jnp.mean((norms - 1) ** 2)


def search(train, starts, rates, xs, ys):
    def row(start):
        return jax.vmap(lambda rate: train(start, rate, xs, ys))(rates)

    params, losses = jax.vmap(row)(starts)
    flat = jnp.where(jnp.isnan(losses), jnp.inf, losses).ravel()
    best = flat.argmin()
    flattened = jax.tree.map(lambda p: p.reshape(len(flat), *p.shape[2:]), params)
    return losses, jax.tree.map(lambda p: p[best], flattened)
