"""Everything under `jit` with static arguments; concatenation, and `.at` on zeros."""

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("i", "j"))
def zero_block(x, i, j):
    return jnp.concatenate([x[:i], jnp.zeros_like(x[i:j]), x[j:]])


@jax.jit
def scatter_add(x, idx, v):
    delta = jnp.zeros_like(x).at[idx, :].add(v, mode="promise_in_bounds")
    return x + delta


@partial(jax.jit, static_argnames=("i", "j"))
def swap(x, i, j):
    pair = jnp.array([i, j])
    return x.at[pair].set(x[pair[::-1]])


@partial(jax.jit, static_argnums=0)
def sweep(f, x):
    rows = [x[0]]
    for row in x[1:]:
        rows.append(f(rows[-1], row))
    return jnp.stack(rows)
