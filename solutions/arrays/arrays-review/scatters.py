"""Sums scattered to where they belong."""

import jax
import jax.numpy as jnp


def changes(frames):
    t = frames.shape[0]
    total = jnp.zeros(t).at[jnp.arange(t)].add(frames.sum(axis=(1, 2, 3)))
    return (total - jnp.roll(total, 1))[1:]


def keep_top(logits, k):
    values, indices = jax.lax.top_k(logits, k)
    rows = jnp.arange(logits.shape[0])[:, None]
    return jnp.full(logits.shape, -jnp.inf).at[rows, indices].set(values)


def bag(table, ids):
    n, m = ids.shape
    owner = jnp.repeat(jnp.arange(n), m)
    flat = ids.ravel()
    keep = flat >= 0
    rows = jnp.where(keep[:, None], table[flat], 0.0)
    total = jax.ops.segment_sum(rows, owner, num_segments=n)
    count = jax.ops.segment_sum(keep.astype(jnp.float32), owner, num_segments=n)
    return total / jnp.where(count == 0, 1, count)[:, None]
