import jax
import jax.numpy as jnp


def nll(log_probs, labels):
    """log_probs (n, k), labels (n,), integers -> a scalar."""
    if log_probs.ndim != 2 or labels.shape != log_probs.shape[:1]:
        raise ValueError(f"labels {labels.shape}, log_probs {log_probs.shape}")
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        raise TypeError(f"labels are {labels.dtype}, not integers")
    n, k = log_probs.shape
    loss = -log_probs[jnp.arange(n), labels].mean()
    good = (labels >= 0) & (labels < k)
    return jnp.where(good.all(), loss, jnp.nan)
