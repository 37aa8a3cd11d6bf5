"""Loops that XLA sees as loops: a running sum and count in a `scan`, and `lax.map`."""

import jax
import jax.numpy as jnp


def mean_where(x, mask):
    def add(state, pair):
        total, count = state
        one, keep = pair
        return (total + jnp.where(keep, one, 0.0), count + keep), None

    (total, count), _ = jax.lax.scan(add, (jnp.zeros((), x.dtype), 0), (x, mask))
    return total / count


def mean_until(x, length):
    def add(i, total):
        return total + jnp.where(i < length, x[i], 0.0)

    return jax.lax.fori_loop(0, len(x), add, 0.0) / length


def lookup(table, ids, fill):
    padded = jnp.concatenate([table, jnp.full((1, table.shape[1]), fill, table.dtype)])
    last = len(table)
    return jax.lax.map(lambda i: padded[jnp.where((i < 0) | (i > last), last, i)], ids)


def nll(log_probs, labels):
    return mean_where(jax.lax.map(lambda pair: -pair[0][pair[1]], (log_probs, labels)), labels != -100)
