"""Functions of one row, one head, one column and one pair, and `vmap` for the rest."""

import jax
import jax.numpy as jnp


@jax.vmap
def standardize(row):
    return (row - jnp.mean(row)) / jnp.std(row, ddof=1)


def split_heads(x, h):
    return jax.vmap(lambda row: row.reshape(h, -1), out_axes=1)(x)


def top(x, k):
    return jax.vmap(lambda column: jax.lax.top_k(column, k), in_axes=1, out_axes=1)(x)


def pairs(a, b):
    def pair(p, q):
        return jnp.concatenate([p, q])

    return jax.vmap(jax.vmap(pair, in_axes=(None, 0)), in_axes=(0, None))(a, b)
