"""Norm and scaling by optax, inside one function of one example."""

import jax
import jax.numpy as jnp
import optax


def example_grads(loss, params, xs, ys):
    def one(x, y):
        _, pull_back = jax.vjp(lambda p: loss(p, x, y), params)
        (grad,) = pull_back(jnp.ones(()))
        return grad

    return jax.vmap(one)(xs, ys)


norms = jax.vmap(optax.global_norm)


@jax.jit
def mean(tree):
    return jax.tree.map(lambda leaf: jnp.mean(leaf, 0), tree)


def clipped_grad(loss, params, xs, ys, limit):
    clip = optax.clip_by_global_norm(limit)

    def one(x, y):
        grad = jax.grad(loss)(params, x, y)
        clipped, _ = clip.update(grad, clip.init(grad))
        return clipped

    return mean(jax.vmap(one)(xs, ys))
