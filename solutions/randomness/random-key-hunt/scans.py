"""A scan over epochs around a scan over rows, each with its keys as inputs."""

import jax
import jax.numpy as jnp


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    pairs = zip(sizes, sizes[1:])
    return [jax.random.normal(k, pair) / jnp.sqrt(pair[0]) for k, pair in zip(keys, pairs)]


def augment(key, image):
    keys = jax.random.split(key, 2)
    flip = jax.random.choice(keys[0], jnp.array([-1, 1]))
    columns = jnp.arange(image.shape[1])
    columns = jnp.where(flip < 0, columns[::-1], columns)
    return image[:, columns] + jax.random.normal(keys[1], image.shape) * 0.1


def orders(key, n, epochs):
    def body(_, key):
        return None, jax.random.permutation(key, n)

    return jax.lax.scan(body, None, jax.random.split(key, epochs))[1]


def train(step, key, state, xs, epochs):
    n = xs.shape[0]

    def row(state, inputs):
        key, x = inputs
        return step(key, state, x), None

    def epoch(state, inputs):
        key, order = inputs
        return jax.lax.scan(row, state, (jax.random.split(key, n), xs[order]))

    keys = jax.random.split(key, epochs + 1)
    state, _ = jax.lax.scan(epoch, state, (keys[1:], orders(keys[0], n, epochs)))
    return state
