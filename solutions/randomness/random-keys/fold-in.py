"""`fold_in` of a counter instead of `split`: draw i uses child i of the key."""

import jax
import jax.numpy as jnp


def make_linear(key, n_in, n_out):
    bound = 1.0 / jnp.sqrt(n_in)
    w = jax.random.uniform(jax.random.fold_in(key, 0), (n_in, n_out), jnp.float32, -bound, bound)
    b = jax.random.uniform(jax.random.fold_in(key, 1), (n_out,), jnp.float32, -bound, bound)
    return {"w": w, "b": b}


def init_mlp(key, sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(make_linear(jax.random.fold_in(key, i), sizes[i], sizes[i + 1]))  # noqa: PERF401
    return layers


def add_noise(key, x):
    def noisy(i, row):
        return row + 0.1 * jax.random.normal(jax.random.fold_in(key, i), row.shape)

    return jax.vmap(noisy)(jnp.arange(len(x)), x)
