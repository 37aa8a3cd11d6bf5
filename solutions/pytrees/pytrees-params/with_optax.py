"""What optax has for it, and a tree of keys."""

import jax
import jax.numpy as jnp
import optax


def sgd(params, grads, lr):
    tx = optax.sgd(lr)
    updates, _ = tx.update(grads, tx.init(params), params)
    return optax.apply_updates(params, updates)


def clip(grads, limit):
    tx = optax.clip_by_global_norm(limit)
    clipped, _ = tx.update(grads, tx.init(grads))
    return clipped, optax.global_norm(grads)


def average(models):
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
    return jax.tree.map(lambda leaf: leaf.mean(axis=0), stacked)


def is_shape(x):
    return isinstance(x, tuple)


def init(key, shapes):
    structure = jax.tree.structure(shapes, is_leaf=is_shape)
    keys = jax.tree.unflatten(structure, jax.random.split(key, structure.num_leaves))
    return jax.tree.map(
        lambda shape, k: 0.1 * jax.random.normal(k, shape), shapes, keys, is_leaf=is_shape
    )
