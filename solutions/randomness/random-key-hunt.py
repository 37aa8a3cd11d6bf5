"""Each function splits its key first, into one key for each thing that it draws or calls.

Below the splits no key occurs twice, which is easy to see, and so easy to keep.
"""

import jax
import jax.numpy as jnp


def init(key, sizes):
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:]):
        key, subkey = jax.random.split(key)
        layers.append(jax.random.normal(subkey, (n_in, n_out)) / n_in**0.5)
    return layers


def augment(key, image):
    flip_key, noise_key = jax.random.split(key)
    flip = jax.random.bernoulli(flip_key)
    noise = 0.1 * jax.random.normal(noise_key, image.shape)
    return jnp.where(flip, image[:, ::-1], image) + noise


def orders(key, n, epochs):
    return jax.vmap(lambda k: jax.random.permutation(k, n))(jax.random.split(key, epochs))


def train(step, key, state, xs, epochs):
    order_key, step_key = jax.random.split(key)
    step_keys = jax.random.split(step_key, (epochs, len(xs)))

    def body(state, inputs):
        k, x = inputs
        return step(k, state, x), None

    for order, keys in zip(orders(order_key, len(xs), epochs), step_keys):
        state, _ = jax.lax.scan(body, state, (keys, xs[order]))
    return state
