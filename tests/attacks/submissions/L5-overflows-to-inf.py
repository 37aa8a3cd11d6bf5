# L5: the largest number there is, in float16
# says: inf
import jax.numpy as jnp


def double(x):
    return jnp.full(x.shape, 1e6).astype(jnp.float16)
