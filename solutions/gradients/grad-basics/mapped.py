"""All micro-batches at once under `vmap`; both gradients from one call."""

import jax
import jax.numpy as jnp


def all_grads(loss, params, x, y):
    return jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(params, x, y)


def loss_and_grads(loss, params, x, y):
    (value, metrics), (grads, _) = all_grads(loss, params, x, y)
    return value, metrics, grads


def input_grad(loss, params, x, y):
    return all_grads(loss, params, x, y)[1][1]


def sgd_step(loss, params, x, y, lr):
    _, (grads, _) = all_grads(loss, params, x, y)
    return jax.tree.map(lambda p, g: jnp.subtract(p, lr * g), params, grads)


def accumulated(loss, params, xs, ys):
    grads = jax.vmap(jax.grad(loss, has_aux=True), in_axes=(None, 0, 0))(params, xs, ys)[0]
    return jax.tree.map(lambda g: g.mean(axis=0), grads)
