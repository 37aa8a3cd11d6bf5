"""The layer below jax.numpy: `lax` slices and loops, a segment sum."""

import jax
import jax.numpy as jnp
from jax import lax


def zero_block(x: jax.Array, i: int, j: int) -> jax.Array:
    block = jnp.zeros((j - i, x.shape[1]), x.dtype)
    return lax.dynamic_update_slice(x, block, (i, 0))


def scatter_add(x: jax.Array, idx: jax.Array, v: jax.Array) -> jax.Array:
    return x + jax.ops.segment_sum(v, idx, num_segments=x.shape[0])


def swap(x: jax.Array, i: int, j: int) -> jax.Array:
    order = list(range(len(x)))
    order[i], order[j] = order[j], order[i]
    return lax.concatenate([lax.slice_in_dim(x, k, k + 1) for k in order], 0)


def sweep(f, x: jax.Array) -> jax.Array:
    def turn(i, x):
        row = f(lax.dynamic_index_in_dim(x, i - 1, keepdims=False), x[i])
        return lax.dynamic_update_index_in_dim(x, row, i, 0)

    return lax.fori_loop(1, x.shape[0], turn, x)
