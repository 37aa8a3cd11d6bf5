# U2: one JAX array a little larger than the limit
# says: ran out of memory
import jax.numpy as jnp


def double(x):
    return 2 * x + 0 * jnp.ones(300 << 20)[0]
