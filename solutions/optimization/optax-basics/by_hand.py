"""Transformations written by hand, with optax's types only."""

import functools

import jax
import jax.numpy as jnp
import optax

tree = jax.tree.map


def make_sgd(lr, momentum, decay):
    def init(params):
        return tree(jnp.zeros_like, params)

    def update(grads, buffer, params=None):
        grads = tree(lambda g, p: g + decay * p, grads, params)
        buffer = tree(lambda m, g: momentum * m + g, buffer, grads)
        return tree(lambda g, m: -lr * (g + momentum * m), grads, buffer), buffer

    return optax.GradientTransformation(init, update)


def make_adamw(lr, b1=0.9, b2=0.999, eps=1e-8, decay=0.01):
    def init(params):
        return jnp.int32(0), tree(jnp.zeros_like, params), tree(jnp.zeros_like, params)

    def update(grads, state, params=None):
        count, m, v = state
        count = count + 1
        m = tree(lambda m, g: b1 * m + (1 - b1) * g, m, grads)
        v = tree(lambda v, g: b2 * v + (1 - b2) * g * g, v, grads)
        c1, c2 = 1 - b1**count, 1 - b2**count

        def one(m, v, p):
            return -lr * (m / c1 / (jnp.sqrt(v / c2) + eps) + decay * p)

        return tree(one, m, v, params), (count, m, v)

    return optax.GradientTransformation(init, update)


def make_rmsprop(lr):
    def init(params):
        return tree(jnp.zeros_like, params)

    def update(grads, squares, params=None):
        squares = tree(lambda s, g: 0.99 * s + 0.01 * g**2, squares, grads)
        return tree(lambda g, s: -lr * g / (jnp.sqrt(s) + 1e-8), grads, squares), squares

    return optax.GradientTransformation(init, update)


def train_step(tx, loss, params, state, x, y):
    value, pull = jax.vjp(lambda p: loss(p, x, y), params)
    (grads,) = pull(jnp.ones_like(value))
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


def fit(tx, loss, params, xs, ys):
    step = jax.jit(functools.partial(train_step, tx, loss))
    state = tx.init(params)
    values = jnp.zeros(len(xs))
    for i in range(len(xs)):
        params, state, value = step(params, state, xs[i], ys[i])
        values = values.at[i].set(value)
    return params, values
