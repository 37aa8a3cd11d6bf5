"""Einsums and one-hot rows; ranks in place of a threshold."""

import jax
import jax.numpy as jnp


def changes(frames):
    total = jnp.einsum("thwc->t", frames.astype(jnp.int32))
    return jnp.roll(total, -1)[:-1] - total[:-1]


def keep_top(logits, k):
    rank = jnp.argsort(jnp.argsort(-logits, axis=-1), axis=-1)
    return jnp.where(rank < k, logits, -jnp.inf)


def bag(table, ids):
    hits = jax.nn.one_hot(ids, table.shape[0]).sum(axis=1)  # (n, v)
    return hits @ table / jnp.maximum(hits.sum(axis=1, keepdims=True), 1)
