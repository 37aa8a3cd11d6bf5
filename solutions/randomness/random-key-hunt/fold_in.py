"""`fold_in` of names and numbers, so that nothing is unpacked or carried."""

import zlib

import jax
import jax.numpy as jnp


def named(key, name):
    return jax.random.fold_in(key, zlib.crc32(name.encode()))


def init(key, sizes):
    return [
        jax.random.normal(jax.random.fold_in(key, i), (n_in, n_out)) / n_in**0.5
        for i, (n_in, n_out) in enumerate(zip(sizes[:-1], sizes[1:]))
    ]


def augment(key, image):
    flip = jax.random.bernoulli(named(key, "flip"))
    noise = 0.1 * jax.random.normal(named(key, "noise"), image.shape)
    return jax.lax.cond(flip, jnp.fliplr, lambda image: image, image) + noise


def orders(key, n, epochs):
    one = lambda epoch: jax.random.permutation(jax.random.fold_in(key, epoch), n)
    return jax.vmap(one)(jnp.arange(epochs))


def train(step, key, state, xs, epochs):
    step_key = named(key, "steps")
    count = 0
    for order in orders(named(key, "orders"), len(xs), epochs):
        for i in order:
            state = step(jax.random.fold_in(step_key, count), state, xs[i])
            count += 1
    return state
