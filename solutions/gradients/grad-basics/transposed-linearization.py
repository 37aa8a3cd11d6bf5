"""`jax.linearize`, and the transpose of the linear map it returns."""

import jax
import jax.numpy as jnp


def loss(params, x, y):
    logits = x @ params["w"] + params["b"]
    signs = 2 * y - 1
    losses = -jax.nn.log_sigmoid(signs * logits)
    return losses.mean(), (signs * logits > 0).mean()


def gradient(f, at):
    """Return f's value, its auxiliary output, and its gradient."""
    value, jvp, aux = jax.linearize(f, at, has_aux=True)
    (grads,) = jax.linear_transpose(jvp, at)(jnp.ones_like(value))
    return value, aux, grads


def loss_and_grads(params, x, y):
    return gradient(lambda p: loss(p, x, y), params)


def input_grad(params, x, y):
    *_, grads = gradient(lambda inputs: loss(params, inputs, y), x)
    return grads


def sgd_step(params, x, y, lr):
    *_, grads = loss_and_grads(params, x, y)
    return jax.tree.map(lambda p, g: jnp.subtract(p, lr * g), params, grads)
