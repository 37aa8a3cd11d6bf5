"""A NamedTuple as a small ensemble class; `scan` over members for the training."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Ensemble(NamedTuple):
    params: Any

    def over(self, f, *own, shared=()):
        return jax.vmap(lambda p, *mine: f(p, *mine, *shared))(self.params, *own)

    def __getitem__(self, i):
        return jax.tree_util.tree_map(lambda p: p[i], self.params)


def init_members(init, key, n):
    return Ensemble(jax.random.split(key, (n,))).over(init)


def train_members(train, members, rates, xs, ys):
    def step(_, one):
        return _, train(*one, xs, ys)

    return jax.lax.scan(step, 0, (members, rates))[1]


def predict(apply, members, xs):
    ys = Ensemble(members).over(apply, shared=(xs,))
    return jnp.mean(ys, axis=0), jnp.std(ys, axis=0, ddof=0)


def best(members, losses):
    return Ensemble.__getitem__(Ensemble(members), jnp.argmin(losses))
