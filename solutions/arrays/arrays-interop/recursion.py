"""The PyTorch, line by line: recursion over the structure, `copy` methods."""

import jax
import jax.numpy as jnp
import numpy as np


def adopt(a):
    match a:
        case np.ndarray():
            return jax.device_put(a.copy())
        case _:
            return jnp.copy(jax.dlpack.from_dlpack(a))


def adopt_batch(batch):
    if isinstance(batch, dict):
        return {name: adopt_batch(part) for name, part in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [adopt_batch(part) for part in batch]
    return adopt(batch)


def export(x):
    x = np.asarray(x)
    if x.dtype.name == "bfloat16":
        return x.astype("float32")
    return x.copy()
