"""Methods where there are any, and axes counted from the end."""

import jax
import jax.numpy as jnp


def standardize(x):
    y = x.T
    return ((y - y.mean(0)) / (y.var(0, ddof=1) ** 0.5)).T


def split_heads(x, h):
    return x.T.reshape(h, -1, x.shape[0]).swapaxes(-1, -2)


def top(x, k):
    indices = (-x).argsort(axis=0)[:k]
    return jax.vmap(lambda column, at: column[at], in_axes=1, out_axes=1)(x, indices), indices


def pairs(a, b):
    i, j = jnp.indices((a.shape[0], b.shape[0]))
    return jnp.dstack([a[i], b[j]])
