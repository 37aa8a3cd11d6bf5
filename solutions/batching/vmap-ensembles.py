"""`init`, `train` and `apply` are written for one network, and stay so. `in_axes` says what is each
member's own (parameters, rate) and what they share (the data)."""

import jax


def init_members(init, key, n):
    return jax.vmap(init)(jax.random.split(key, n))


def train_members(train, members, rates, xs, ys):
    return jax.vmap(train, in_axes=(0, 0, None, None))(members, rates, xs, ys)


def predict(apply, members, xs):
    ys = jax.vmap(apply, in_axes=(0, None))(members, xs)
    return ys.mean(axis=0), ys.std(axis=0)


def best(members, losses):
    i = losses.argmin()
    return jax.tree.map(lambda array: array[i], members)
