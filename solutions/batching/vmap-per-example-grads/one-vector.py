"""The gradients as one matrix (n, parameters): `ravel_pytree` makes a vector of a tree."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def example_grads(loss, params, xs, ys):
    def one(example):
        return jax.grad(loss)(params, *example)

    return jax.vmap(one)((xs, ys))


def flat(grads):
    return jax.vmap(lambda one: ravel_pytree(one)[0])(grads)


def norms(grads):
    return jnp.linalg.norm(flat(grads), axis=1)


def clipped_grad(loss, params, xs, ys, limit):
    _, restore = ravel_pytree(params)
    rows = flat(example_grads(loss, params, xs, ys))
    length = jnp.linalg.norm(rows, axis=1)
    scale = jnp.where(length > limit, limit / length, 1.0)
    return restore((rows * scale[:, None]).mean(0))
