import jax
import jax.numpy as jnp


def envelope(x, attack, release):
    """x (T,), attack and release: scalars -> (T,)."""

    def step(old, level):
        keep = jnp.where(level > old, attack, release)
        e = keep * old + (1 - keep) * level
        return e, e

    _, kept = jax.lax.scan(step, jnp.zeros(()), jnp.abs(x))
    return kept
