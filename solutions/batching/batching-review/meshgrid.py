"""Axes as named constants, a compiled helper, and one-hot selection without NaN."""

from functools import partial

import jax
import jax.numpy as jnp

SHARED = (None, None)


def leave_one_out(fit, xs, ys):
    n = xs.shape[0]
    weights = jnp.ones((n, n)) - jnp.diag(jnp.ones(n))
    return jax.vmap(fit, (1, *SHARED))(weights, xs, ys)


@partial(jax.jit, static_argnums=0)
def slopes(critic, params, xs):
    return jax.vmap(jax.value_and_grad(critic, argnums=1), in_axes=(None, 0))(params, xs)[1]


def gradient_penalty(critic, params, xs):
    flat = slopes(critic, params, xs).reshape(len(xs), -1)
    return jnp.square(jnp.linalg.norm(flat, axis=1) - 1).mean()


def search(train, starts, rates, xs, ys):
    rows = jax.vmap(train, (0, None, *SHARED), 0)
    params, losses = jax.vmap(rows, (None, 0, *SHARED), out_axes=1)(starts, rates, xs, ys)
    best = jnp.nanmin(losses)
    i = jnp.argmax((losses == best).any(1))
    j = jnp.argmax(losses[i] == best)
    return losses, {name: array[i, j] for name, array in params.items()}
