"""Sums and sorts written out: no `std`, no `top_k`, no `concatenate`."""

import jax.numpy as jnp


def standardize(x):
    d = x.shape[1]
    centred = x - (x.sum(1) / d)[:, None]
    variance = jnp.einsum("nd,nd->n", centred, centred) / (d - 1)
    return centred / jnp.sqrt(variance)[:, None]


def split_heads(x, h):
    return jnp.stack(jnp.split(x, h, axis=1))


def top(x, k):
    order = jnp.argsort(x, axis=0, descending=True)[:k]
    return jnp.take_along_axis(x, order, axis=0), order


def pairs(a, b):
    (n, d), (m, e) = a.shape, b.shape
    empty = jnp.zeros((n, m, d + e), a.dtype)
    return empty.at[:, :, :d].set(a[:, None]).at[:, :, d:].set(b)
