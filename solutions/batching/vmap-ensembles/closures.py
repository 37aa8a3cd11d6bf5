"""Closures over the shared data; a key for each member by `fold_in`."""

import jax
import jax.numpy as jnp


def init_members(init, key, n):
    return jax.vmap(lambda i: init(jax.random.fold_in(key, i)))(jnp.arange(n))


def train_members(train, members, rates, xs, ys):
    def one(member, rate):
        return train(member, rate, xs, ys)

    return jax.vmap(one)(members, rates)


def predict(apply, members, xs):
    ys = jax.vmap(lambda member: apply(member, xs))(members)
    mean = ys.sum(0) / len(ys)
    return mean, jnp.sqrt(((ys - mean) ** 2).mean(0))


def best(members, losses):
    return jax.tree.map(lambda p: jnp.take(p, jnp.argmin(losses), axis=0), members)
