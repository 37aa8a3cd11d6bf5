"""Keys by the path of a leaf, and `jax.tree_util` under its old names."""

import zlib

import jax
import jax.numpy as jnp


def sgd(params, grads, lr):
    steps = jax.tree_util.tree_map(lambda g: lr * g, grads)
    return jax.tree_util.tree_map(jnp.subtract, params, steps)


def clip(grads, limit):
    norms = [jnp.sqrt((g**2).sum()) for g in jax.tree_util.tree_leaves(grads)]
    norm = jnp.sqrt(sum(n**2 for n in norms))
    scale = jax.lax.cond(norm > limit, lambda: limit / norm, lambda: 1.0)
    return jax.tree_util.tree_map(lambda g: scale * g, grads), norm


def average(models):
    def mean(*leaves):
        return jnp.mean(jnp.asarray(leaves), 0)

    return jax.tree_util.tree_map(mean, *models)


def init(key, shapes):
    def draw(path, shape):
        name = jax.tree_util.keystr(path)
        return 0.1 * jax.random.normal(jax.random.fold_in(key, zlib.crc32(name.encode())), shape)

    return jax.tree_util.tree_map_with_path(draw, shapes, is_leaf=lambda s: isinstance(s, tuple))
