import jax
import jax.numpy as jnp


def norm(v):
    return jnp.sqrt(v @ v)


def norms(m):
    return jax.vmap(norm)(m)
