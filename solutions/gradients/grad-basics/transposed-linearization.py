"""`jax.linearize`, and the transpose of the linear map it returns; steps on one long vector."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def gradient(f, at):
    """Return f's value, its auxiliary output, and its gradient."""
    value, jvp, aux = jax.linearize(f, at, has_aux=True)
    (grads,) = jax.linear_transpose(jvp, at)(jnp.ones_like(value))
    return value, aux, grads


def loss_and_grads(loss, params, x, y):
    return gradient(lambda p: loss(p, x, y), params)


def input_grad(loss, params, x, y):
    *_, grads = gradient(lambda inputs: loss(params, inputs, y), x)
    return grads


def sgd_step(loss, params, x, y, lr):
    flat, restore = ravel_pytree(params)
    *_, grads = gradient(lambda flat: loss(restore(flat), x, y), flat)
    return restore(flat - lr * grads)


def accumulated(loss, params, xs, ys):
    flat, restore = ravel_pytree(params)
    one = lambda batch: gradient(lambda flat: loss(restore(flat), *batch), flat)[2]  # noqa: E731
    return restore(jax.lax.map(one, (xs, ys)).mean(axis=0))
