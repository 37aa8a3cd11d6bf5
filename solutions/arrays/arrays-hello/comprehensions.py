"""Lists of rows and columns, stacked."""

import jax.numpy as jnp
from jax import lax


def standardize(x):
    rows = []
    for row in x:
        rows.append((row - row.mean()) / row.std(ddof=1))
    return jnp.stack(rows)


def split_heads(x, h):
    size = x.shape[1] // h
    return jnp.array([x[:, i * size : (i + 1) * size] for i in range(h)])


def top(x, k):
    values, indices = zip(*[lax.top_k(column, k) for column in x.T])
    return jnp.column_stack(values), jnp.column_stack(indices)


def pairs(a, b):
    return jnp.stack([jnp.stack([jnp.hstack([p, q]) for q in b]) for p in a])
