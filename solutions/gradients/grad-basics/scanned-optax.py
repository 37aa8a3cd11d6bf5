"""`lax.scan` carries the sum; optax makes the step."""

import jax
import jax.numpy as jnp
import optax


def loss_and_grads(loss, params, x, y):
    (value, metrics), grads = jax.value_and_grad(loss, has_aux=True)(params, x, y)
    return value, metrics, grads


def input_grad(loss, params, x, y):
    value_of = lambda x: loss(params, x, y)[0]  # noqa: E731
    return jax.grad(value_of)(x)


def sgd_step(loss, params, x, y, lr):
    tx = optax.sgd(lr)
    *_, grads = loss_and_grads(loss, params, x, y)
    updates, _ = tx.update(grads, tx.init(params), params)
    return optax.apply_updates(params, updates)


def accumulated(loss, params, xs, ys):
    def add(total, batch):
        *_, grads = loss_and_grads(loss, params, *batch)
        return jax.tree.map(jnp.add, total, grads), None

    zeros = jax.tree.map(jnp.zeros_like, params)
    total, _ = jax.lax.scan(add, zeros, (xs, ys))
    return jax.tree.map(lambda t: t / xs.shape[0], total)
