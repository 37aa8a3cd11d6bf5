"""Masks and permutations: `where` over an index vector, a one-hot matrix product."""

import jax
import jax.numpy as jnp


def zero_block(x, i, j):
    row = jnp.arange(x.shape[0])
    inside = (row >= i) & (row < j)
    return jnp.where(inside[:, None], 0.0, x)


def scatter_add(x, idx, v):
    hits = jax.nn.one_hot(idx, x.shape[0], dtype=x.dtype)  # (m, n)
    return x + jnp.einsum("mn,md->nd", hits, v)


def swap(x, i, j):
    at = jnp.arange(len(x))[:, None]
    return jnp.where(at == i, x[j], jnp.where(at == j, x[i], x))


def sweep(f, x):
    at = jnp.arange(len(x))[:, None]
    for i in range(1, len(x)):
        x = jnp.where(at == i, f(x[i - 1], x[i]), x)
    return x
