"""Functions of one row, mapped with `vmap`."""

import jax
import jax.numpy as jnp


def changes(frames):
    return jnp.diff(jax.vmap(lambda frame: frame.astype(jnp.float32).sum())(frames))


def keep_top(logits, k):
    def one(row):
        values, indices = jax.lax.top_k(row, k)
        return jnp.full_like(row, -jnp.inf).at[indices].set(values)

    return jax.vmap(one)(logits)


def bag(table, ids):
    def one(row):
        rows = table.at[row].get(mode="fill", fill_value=0, wrap_negative_indices=False)
        return rows.sum(0) / jnp.clip(jnp.count_nonzero(row >= 0), 1)

    return jax.vmap(one)(ids)
