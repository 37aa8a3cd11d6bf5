"""`device_get` and `device_put` of whole trees, with a NumPy copy in between."""

import jax
import jax.numpy as jnp
import numpy as np


def to_numpy(a):
    if isinstance(a, np.ndarray):
        return a.copy(order="C")
    return np.array(jnp.from_dlpack(a))


def adopt_batch(batch):
    return jax.device_put(jax.tree.map(to_numpy, batch))


def adopt(a):
    return adopt_batch(a)


def export(x):
    a = np.array(jax.device_get(x))
    return a.astype(np.float32) if a.dtype == jnp.bfloat16 else a
