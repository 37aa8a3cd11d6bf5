"""A key that is carried along, also as a part of the state of the scan."""

import jax
import jax.numpy as jnp


def init(key, sizes):
    layers = []
    for i in range(1, len(sizes)):
        key, subkey = jax.random.split(key)
        layers += [jax.random.normal(subkey, (sizes[i - 1], sizes[i])) * sizes[i - 1] ** -0.5]
    return layers


def augment(key, image):
    key, subkey = jax.random.split(key)
    image = jnp.where(jax.random.uniform(subkey) < 0.5, jnp.flip(image, axis=1), image)
    key, subkey = jax.random.split(key)
    return image + 0.1 * jax.random.normal(subkey, image.shape)


def orders(key, n, epochs):
    rows = []
    for _ in range(epochs):
        key, subkey = jax.random.split(key)
        rows.append(jax.random.permutation(subkey, n))
    return jnp.stack(rows)


def train(step, key, state, xs, epochs):
    def body(carry, i):
        key, state = carry
        key, subkey = jax.random.split(key)
        return (key, step(subkey, state, xs[i])), None

    key, subkey = jax.random.split(key)
    order = orders(subkey, len(xs), epochs).reshape(-1)
    (_, state), _ = jax.lax.scan(body, (key, state), order)
    return state
