"""Functions of one element, mapped over the rest with `vmap`; `cond` for the choice."""

import jax
import jax.numpy as jnp


def mean_where(x, mask):
    kept = jax.vmap(lambda one, keep: jax.lax.select(keep, one, jnp.zeros_like(one)))(x, mask)
    return jnp.sum(kept) / jnp.sum(mask)


def mean_until(x, length):
    return mean_where(x, jax.vmap(lambda i: i < length)(jnp.arange(x.shape[0])))


def lookup(table, ids, fill):
    def one(i):
        row = jax.lax.dynamic_index_in_dim(table, jnp.clip(i, 0, len(table) - 1), keepdims=False)
        inside = jnp.logical_and(i >= 0, i < len(table))
        return jax.lax.cond(inside, lambda: row, lambda: jnp.full_like(row, fill))

    return jax.vmap(one)(ids)


def nll(log_probs, labels):
    losses = jax.vmap(lambda row, label: -row[label])(log_probs, labels)
    return mean_where(losses, labels >= 0)
