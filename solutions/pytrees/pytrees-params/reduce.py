"""`jax.tree.reduce` for the sums, an iterator of keys under `tree.map`."""

import functools
import operator

import jax
import jax.numpy as jnp


def sgd(params, grads, lr):
    def update(p, g):
        return p + (-lr) * g

    return jax.tree.map(update, params, grads)


def clip(grads, limit):
    squares = jax.tree.map(lambda g: (g * g).sum(), grads)
    norm = jax.tree.reduce(operator.add, squares) ** 0.5
    scale = 1 / jnp.maximum(1.0, norm / limit)
    return jax.tree.map(lambda g: g * scale, grads), norm


def average(models):
    total = functools.reduce(lambda a, b: jax.tree.map(jnp.add, a, b), models)
    return jax.tree.map(lambda leaf: leaf / len(models), total)


def init(key, shapes):
    count = len(jax.tree.leaves(shapes, is_leaf=lambda s: isinstance(s, tuple)))
    keys = iter(jax.random.split(key, count))

    def draw(shape):
        return 0.1 * jax.random.normal(next(keys), shape)

    return jax.tree.map(draw, shapes, is_leaf=lambda s: isinstance(s, tuple))
