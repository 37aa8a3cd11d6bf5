"""NumPy where it will do, DLPack where it refuses, and a class for the border."""

import jax
import jax.numpy as jnp
import numpy as np


class Border:
    @staticmethod
    def enter(a):
        try:
            mine = np.array(a)
        except TypeError:
            return jax.jit(jnp.copy)(jnp.from_dlpack(a)).block_until_ready()
        return jnp.asarray(mine)

    @staticmethod
    def leave(x):
        dtype = np.float32 if x.dtype == jnp.bfloat16 else x.dtype
        empty = np.empty(x.shape, dtype)
        empty[...] = np.asarray(x)
        return empty


adopt, export = Border.enter, Border.leave


def adopt_batch(batch):
    return jax.tree_util.tree_map(Border.enter, batch)
