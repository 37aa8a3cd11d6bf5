"""`where` in the reductions, a safe count, and a sort for the threshold."""

import jax.numpy as jnp


def changes(frames):
    flat = frames.reshape(len(frames), -1)
    return jnp.diff(flat.astype(int).sum(axis=-1))


def keep_top(logits, k):
    least = jnp.sort(logits, axis=1)[:, -k, None]
    return logits + jnp.where(logits >= least, 0, -jnp.inf)


def bag(table, ids):
    keep = ids >= 0
    some = keep.at[:, 0].set(keep[:, 0] | ~keep.any(axis=1))
    rows = jnp.where(keep[..., None], jnp.take(table, ids, axis=0, mode="clip"), 0)
    return rows.mean(axis=1, where=some[..., None])
