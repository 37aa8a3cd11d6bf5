"""Trees taken apart and put together again, by hand."""

import jax
import jax.numpy as jnp


def sgd(params, grads, lr):
    leaves, structure = jax.tree.flatten(params)
    return structure.unflatten([p - lr * g for p, g in zip(leaves, jax.tree.leaves(grads))])


def clip(grads, limit):
    leaves, structure = jax.tree.flatten(grads)
    squares = jnp.stack([jnp.vdot(g, g) for g in leaves])
    norm = jnp.sqrt(squares.sum())
    factor = jnp.where(norm > limit, limit / norm, 1.0)
    return structure.unflatten([g * factor for g in leaves]), norm


def average(models):
    structure = jax.tree.structure(models[0])
    columns = zip(*[jax.tree.leaves(model) for model in models])
    return structure.unflatten([jnp.mean(jnp.stack(column), axis=0) for column in columns])


def init(key, shapes):
    leaves, structure = jax.tree.flatten(shapes, is_leaf=lambda s: type(s) is tuple)
    arrays = []
    for shape in leaves:
        key, subkey = jax.random.split(key)
        arrays.append(jax.random.normal(subkey, shape) * 0.1)
    return structure.unflatten(arrays)
