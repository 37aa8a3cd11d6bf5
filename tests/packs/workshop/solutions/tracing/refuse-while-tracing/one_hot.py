import jax
import jax.numpy as jnp


def nll(log_probs, labels):
    if labels.dtype.kind not in "iu":
        raise TypeError("the labels are not integers")
    if log_probs.ndim != 2:
        raise ValueError("log_probs must have two axes")
    n, k = log_probs.shape
    if labels.shape != (n,):
        raise ValueError(f"expected labels of shape ({n},)")
    chosen = jax.nn.one_hot(labels, k)
    rows = -jnp.einsum("nk,nk->n", chosen, log_probs)
    # A class that does not exist has a row of zeros.
    return jnp.mean(jnp.where(chosen.sum(axis=1) == 1, rows, jnp.nan))
