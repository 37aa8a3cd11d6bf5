"""The older spelling: raw uint32 keys from `jax.random.PRNGKey`, with `rng` carried along."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np


def _raw(rng):
    typed = jnp.issubdtype(rng.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(rng) if typed else rng


def make_linear(rng, n_in, n_out):
    rng = _raw(rng)
    bound = 1.0 / np.sqrt(n_in)
    rng, sub = jax.random.split(rng)
    w = jax.random.uniform(sub, (n_in, n_out)) * 2 * bound - bound
    rng, sub = jax.random.split(rng)
    b = jax.random.uniform(sub, (n_out,)) * 2 * bound - bound
    return {"w": w, "b": b}


def init_mlp(rng, sizes):
    rng = _raw(rng)
    params = []
    for n_in, n_out in itertools.pairwise(sizes):
        rng, layer_rng = jax.random.split(rng)
        params.append(make_linear(layer_rng, n_in, n_out))
    return params


def add_noise(rng, x):
    return x + jax.random.normal(_raw(rng), shape=x.shape) * 0.1
