"""`jax.nn.initializers` for the weights, one key per row of noise under `vmap`."""

from functools import partial

import jax
import jax.numpy as jnp

# A uniform distribution with variance 1 / (3 n_in) has bounds ±1/sqrt(n_in).
kernel_init = jax.nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")


@partial(jax.jit, static_argnums=(1, 2))
def make_linear(key, n_in, n_out):
    keys = jax.random.split(key, 2)
    b = jax.random.uniform(keys[1], (n_out,), minval=-1.0, maxval=1.0) / n_in**0.5
    return {"w": kernel_init(keys[0], (n_in, n_out), jnp.float32), "b": b}


def init_mlp(key, sizes):
    *keys, _ = jax.random.split(key, len(sizes))
    return list(map(make_linear, keys, sizes[:-1], sizes[1:]))


@jax.jit
def add_noise(key, x):
    keys = jax.random.split(key, x.shape[0])
    return jax.vmap(lambda k, row: row + 0.1 * jax.random.normal(k, row.shape))(keys, x)
