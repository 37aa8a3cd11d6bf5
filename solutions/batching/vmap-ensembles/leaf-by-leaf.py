"""Flattened trees, keyword axes and one-hot selection."""

from functools import partial

import jax
import jax.numpy as jnp


def init_members(init, key, n):
    keys = jax.random.split(key, n)
    leaves = jax.vmap(lambda k: jax.tree.leaves(init(k)))(keys)
    structure = jax.tree.structure(jax.eval_shape(init, key))
    return jax.tree.unflatten(structure, leaves)


def train_members(train, members, rates, xs, ys):
    on_data = partial(jax.vmap, in_axes=(0, 0, None, None), out_axes=(0, 0))
    return on_data(train)(members, rates, xs, ys)


def predict(apply, members, xs):
    # Members along the last axis of the predictions.
    ys = jax.vmap(apply, (0, None), out_axes=1)(members, xs)
    return ys.mean(axis=1), ys.std(axis=1)


def best(members, losses):
    chosen = jax.nn.one_hot(jnp.argmin(losses), len(losses))
    leaves, structure = jax.tree.flatten(members)
    return structure.unflatten([jnp.einsum("e,e...->...", chosen, p) for p in leaves])
