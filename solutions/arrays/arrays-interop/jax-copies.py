"""Copies made by JAX; the caller waits for them."""

import jax
import jax.numpy as jnp
import numpy as np


def adopt(a):
    if hasattr(a, "detach"):
        return jnp.from_dlpack(a.detach()).copy()
    return jnp.array(a, copy=True).block_until_ready()


def adopt_batch(batch):
    leaves, structure = jax.tree.flatten(batch)
    return jax.tree.unflatten(structure, [adopt(leaf) for leaf in leaves])


def export(x):
    wide = jnp.promote_types(x.dtype, jnp.float32) if x.dtype == jnp.bfloat16 else x.dtype
    return np.asarray(x).astype(wide)
