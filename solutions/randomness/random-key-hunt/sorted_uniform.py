"""Orders as the argsort of random numbers, a table of keys, and a loop in Python."""

import jax
import jax.numpy as jnp


def init(key, sizes):
    def build(key, sizes):
        if len(sizes) < 2:
            return []
        first, rest = jax.random.split(key)
        w = jax.random.normal(first, tuple(sizes[:2])) / sizes[0] ** 0.5
        return [w, *build(rest, sizes[1:])]

    return build(key, list(sizes))


def augment(key, image):
    k1, k2 = jax.random.split(key)
    flip = jax.random.bernoulli(k1, 0.5).astype(image.dtype)
    flipped = flip * image[:, ::-1] + (1 - flip) * image
    return flipped + jax.random.normal(k2, image.shape) / 10


def orders(key, n, epochs):
    return jnp.argsort(jax.random.uniform(key, (epochs, n)), axis=1)


def train(step, key, state, xs, epochs):
    keys = jax.random.split(key, (epochs, len(xs) + 1))
    table = jnp.concatenate([orders(keys[e, 0], len(xs), 1) for e in range(epochs)])
    for e in range(epochs):
        for t in range(len(xs)):
            state = step(keys[e, t + 1], state, xs[table[e, t]])
    return state
