"""A small object that hands out fresh keys, as `hk.PRNGSequence` does."""

import math

import jax


class Keys:
    def __init__(self, key):
        self._key = key

    def __iter__(self):
        return self

    def __next__(self):
        self._key, fresh = jax.random.split(self._key)
        return fresh


def make_linear(key, n_in, n_out):
    keys = Keys(key)
    bound = 1 / math.sqrt(n_in)
    shapes = {"w": (n_in, n_out), "b": (n_out,)}
    return {
        name: jax.random.uniform(next(keys), shape, minval=-bound, maxval=bound)
        for name, shape in shapes.items()
    }


def init_mlp(key, sizes):
    return [make_linear(k, i, o) for k, i, o in zip(Keys(key), sizes[:-1], sizes[1:])]


def add_noise(key, x):
    keys = Keys(key)
    return x + 0.1 * jax.random.normal(next(keys), x.shape, x.dtype)
