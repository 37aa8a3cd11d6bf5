"""An iterator that hands out fresh keys, as `hk.PRNGSequence` or `nnx.Rngs` do."""

import jax
import jax.numpy as jnp


def fresh(key):
    while True:
        key, subkey = jax.random.split(key)
        yield subkey


def init(key, sizes):
    keys = fresh(key)
    return [jax.random.normal(next(keys), (i, o)) / i**0.5 for i, o in zip(sizes, sizes[1:])]


def augment(key, image):
    keys = fresh(key)
    flip = jax.random.bernoulli(next(keys))
    noise = 0.1 * jax.random.normal(next(keys), image.shape)
    return jax.lax.select(flip, image[:, ::-1], image) + noise


def orders(key, n, epochs):
    keys = fresh(key)
    return jnp.array([jax.random.permutation(next(keys), n) for _ in range(epochs)])


def train(step, key, state, xs, epochs):
    keys = fresh(key)
    for order in orders(next(keys), len(xs), epochs):
        for i in range(len(xs)):
            state = step(next(keys), state, xs[order[i]])
    return state
