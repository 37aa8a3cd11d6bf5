import jax.numpy as jnp


def mean_where(x, mask):
    # A sum and a count have fixed shapes, whatever the mask. `where` replaces the
    # other entries, so not even a NaN among them reaches the sum or the gradient.
    return jnp.where(mask, x, 0).sum() / mask.sum()


def mean_until(x, length):
    return mean_where(x, jnp.arange(len(x)) < length)


def lookup(table, ids, fill):
    valid = (ids >= 0) & (ids < len(table))
    return jnp.where(valid[:, None], table[ids], fill)


def nll(log_probs, labels):
    picked = log_probs[jnp.arange(len(labels)), labels]
    return mean_where(-picked, labels != -100)
