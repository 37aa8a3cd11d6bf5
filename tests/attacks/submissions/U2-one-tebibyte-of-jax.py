# U2: one JAX array of a tebibyte
# says: ran out of memory
import jax.numpy as jnp


def double(x):
    return 2 * x + 0 * jnp.ones(1 << 38)[0]
