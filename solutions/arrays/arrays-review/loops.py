"""Loops that trace: over the columns of ids in Python, over the rows in `lax.map` and `scan`."""

import jax
import jax.numpy as jnp


def changes(frames):
    def step(before, frame):
        total = jnp.sum(frame, dtype=jnp.int32)
        return total, total - before

    return jax.lax.scan(step, jnp.int32(0), frames)[1][1:]


def keep_top(logits, k):
    left, kept = logits, jnp.full_like(logits, -jnp.inf)
    for _ in range(k):
        best = left == left.max(axis=1, keepdims=True)
        kept = jnp.where(best, logits, kept)
        left = jnp.where(best, -jnp.inf, left)
    return kept


def bag(table, ids):
    total = jnp.zeros((ids.shape[0], table.shape[1]))
    count = jnp.zeros((ids.shape[0], 1))
    for j in range(ids.shape[1]):
        keep = ids[:, j, None] >= 0
        total = total + jnp.where(keep, table[ids[:, j]], 0)
        count = count + keep
    return total / count.clip(1)
