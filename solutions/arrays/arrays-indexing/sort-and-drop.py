"""The kept entries first, in an array of fixed length: `nonzero(size=…)`, and rows that a write drops."""

import jax.numpy as jnp


def mean_where(x, mask):
    (where,) = jnp.nonzero(mask, size=x.size, fill_value=x.size)
    kept = x.at[where].get(mode="fill", fill_value=0)
    return kept.sum() / mask.sum()


def mean_until(x, length):
    x = x.at[jnp.where(jnp.arange(len(x)) < length, len(x), jnp.arange(len(x)))].set(0, mode="drop")
    return x.sum() / length


def lookup(table, ids, fill):
    ids = jnp.where(ids < 0, len(table), ids)
    return jnp.take(table, ids, axis=0, mode="fill", fill_value=fill)


def nll(log_probs, labels):
    n, _ = log_probs.shape
    where = jnp.nonzero(labels + 100, size=n, fill_value=n)[0]
    picked = log_probs.at[where, labels[where]].get(mode="fill", fill_value=0)
    return -picked.sum() / (labels != -100).sum()
