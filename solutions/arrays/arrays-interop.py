import jax
import jax.numpy as jnp
import numpy as np


def adopt(a):
    # np.array has copied when it returns. Nobody else holds the copy, so JAX may
    # keep it; a copy made by JAX could still be under way when `a` is overwritten.
    if isinstance(a, np.ndarray):
        return jnp.asarray(np.array(a))
    return jnp.array(jnp.from_dlpack(a))


def adopt_batch(batch):
    return jax.tree.map(adopt, batch)


def export(x):
    if x.dtype == jnp.bfloat16:
        x = x.astype(jnp.float32)
    return np.array(x)
