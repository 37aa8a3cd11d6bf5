"""Lambdas that make the key where it is used, and a loop over the steps in Python."""

import jax
import jax.numpy as jnp


def each_row(f, key, xs):
    return jax.vmap(lambda i, x: f(jax.random.fold_in(key, i), x))(jnp.arange(len(xs)), xs)


def run(f, key, state, steps):
    for step in steps:
        state = f(jax.random.fold_in(key, step), state)
    return state


def augment(f, key, epoch, ids, xs):
    return jax.vmap(
        lambda i, x: f(jax.random.fold_in(jax.random.fold_in(key, epoch), i), x)
    )(ids, xs)
