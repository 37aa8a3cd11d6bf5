"""Loops that carry the array or the last row: `fori_loop` and `scan`."""

import jax
import jax.numpy as jnp


def zero_block(x, i, j):
    return jax.lax.fori_loop(i, j, lambda row, acc: acc.at[row].set(0.0), x)


def scatter_add(x, idx, v):
    def add_one(acc, pair):
        k, row = pair
        return acc.at[k].add(row), None

    out, _ = jax.lax.scan(add_one, x, (idx, v))
    return out


def swap(x, i, j):
    order = jnp.arange(x.shape[0])
    return x[order.at[i].set(j).at[j].set(i)]


def sweep(f, x):
    def step(before, row):
        new = f(before, row)
        return new, new

    _, rows = jax.lax.scan(step, x[0], x[1:])
    return jnp.vstack([x[:1], rows])
