"""Jacobians: `jacfwd` for parameters, `jacrev` for inputs; the loss from log-probabilities."""

from functools import partial

import jax
import jax.numpy as jnp


def loss(params, x, y):
    z = x @ params["w"] + params["b"]
    cross_entropy = -jnp.mean(jax.nn.log_sigmoid(jnp.where(y == 1, z, -z)))
    accuracy = jnp.mean(jnp.round(jax.nn.sigmoid(z)) == y)
    return cross_entropy, accuracy


def loss_and_grads(params, x, y):
    value, accuracy = loss(params, x, y)
    grads, _ = jax.jacfwd(loss, has_aux=True)(params, x, y)
    return value, accuracy, grads


def input_grad(params, x, y):
    only_loss = lambda inputs: loss(params, inputs, y)[0]  # noqa: E731
    return jax.jacrev(only_loss)(x)


def sgd_step(params, x, y, lr):
    grads, _ = jax.jacrev(loss, has_aux=True)(params, x, y)
    descend = partial(_descend, lr)
    return jax.tree_util.tree_map(descend, params, grads)


def _descend(lr, p, g):
    return p - lr * g
