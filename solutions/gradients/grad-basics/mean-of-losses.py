"""The gradient of a mean is the mean of the gradients; a NamedTuple for the results, all compiled."""

from functools import partial
from typing import Any, NamedTuple

import jax


class Result(NamedTuple):
    value: jax.Array
    metrics: Any
    grads: Any


@partial(jax.jit, static_argnums=0)
def loss_and_grads(loss, params, x, y):
    (value, metrics), grads = jax.value_and_grad(loss, has_aux=True)(params, x, y)
    return Result(value, metrics, grads)


@partial(jax.jit, static_argnums=0)
def input_grad(loss, params, x, y):
    return jax.grad(loss, has_aux=True, argnums=1)(params, x, y)[0]


@partial(jax.jit, static_argnums=0)
def sgd_step(loss, params, x, y, lr):
    grads = loss_and_grads(loss, params, x, y).grads
    return jax.tree_util.tree_map(lambda p, g: p - lr * g, params, grads)


def accumulated(loss, params, xs, ys):
    def mean_loss(params):
        values = [loss(params, x, y)[0] for x, y in zip(xs, ys, strict=True)]
        return sum(values) / len(values)

    return jax.grad(mean_loss)(params)
