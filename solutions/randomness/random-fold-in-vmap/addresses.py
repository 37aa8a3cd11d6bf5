"""One function from an address, any number of integers, to a key."""

import functools

import jax
import jax.numpy as jnp


def address(key, *numbers):
    return functools.reduce(jax.random.fold_in, numbers, key)


def each_row(f, key, xs):
    positions = jnp.arange(xs.shape[0])
    keys = jax.vmap(functools.partial(address, key))(positions)
    return jax.vmap(f)(keys, xs)


def run(f, key, state, steps):
    def body(carry, step):
        return f(address(key, step), carry), step

    return jax.lax.scan(body, state, steps)[0]


def augment(f, key, epoch, ids, xs):
    keys = jax.vmap(lambda i: address(key, epoch, i))(ids)
    return jax.vmap(f, in_axes=0)(keys, xs)
