"""Each function says what happens to one leaf; `jax.tree` knows how a model is nested.

So all of them work for dicts, for Flax, for Equinox, and for the state of an optimizer.
"""

import jax
import jax.numpy as jnp


def sgd(params, grads, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


def clip(grads, limit):
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
    scale = jnp.minimum(1, limit / (norm + 1e-6))
    return jax.tree.map(lambda g: scale * g, grads), norm


def average(models):
    return jax.tree.map(lambda *leaves: sum(leaves) / len(leaves), *models)


def is_shape(x):
    return isinstance(x, tuple)


def init(key, shapes):
    leaves, structure = jax.tree.flatten(shapes, is_leaf=is_shape)
    keys = jax.random.split(key, len(leaves))
    arrays = [0.1 * jax.random.normal(k, shape) for k, shape in zip(keys, leaves)]
    return jax.tree.unflatten(structure, arrays)
