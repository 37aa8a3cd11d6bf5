"""One long vector for the norm, and one long draw for all arrays."""

import math

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def sgd(params, grads, lr):
    vector, unravel = ravel_pytree(params)
    return unravel(vector - lr * ravel_pytree(grads)[0])


def clip(grads, limit):
    vector, unravel = ravel_pytree(grads)
    norm = jnp.linalg.norm(vector)
    return unravel(vector * jnp.minimum(1.0, limit / (norm + 1e-6))), norm


def average(models):
    vectors = [ravel_pytree(model)[0] for model in models]
    return ravel_pytree(models[0])[1](sum(vectors) / len(vectors))


def init(key, shapes):
    leaves, structure = jax.tree.flatten(shapes, is_leaf=lambda s: isinstance(s, tuple))
    sizes = [math.prod(shape) for shape in leaves]
    numbers = 0.1 * jax.random.normal(key, (sum(sizes),))
    arrays = []
    for shape, size in zip(leaves, sizes):
        arrays.append(numbers[:size].reshape(shape))
        numbers = numbers[size:]
    return jax.tree.unflatten(structure, arrays)
