"""Loss and update from optax, all under `jit`."""

import jax
import jax.numpy as jnp
import optax


@jax.jit
def loss(params, x, y):
    logits = jnp.dot(x, params["w"]) + params["b"]
    value = optax.sigmoid_binary_cross_entropy(logits, y).mean()
    accuracy = jnp.mean((logits > 0).astype(y.dtype) == y)
    return value, accuracy


value_and_grads = jax.jit(jax.value_and_grad(loss, has_aux=True))
_input_grad = jax.jit(jax.grad(loss, argnums=1, has_aux=True))


def loss_and_grads(params, x, y):
    (value, accuracy), grads = value_and_grads(params, x, y)
    return value, accuracy, grads


def input_grad(params, x, y):
    return _input_grad(params, x, y)[0]


def sgd_step(params, x, y, lr):
    optimizer = optax.sgd(lr)
    _, _, grads = loss_and_grads(params, x, y)
    updates, _ = optimizer.update(grads, optimizer.init(params), params)
    return optax.apply_updates(params, updates)
