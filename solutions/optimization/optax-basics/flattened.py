"""Steps on one vector of all parameters, in a fori_loop that writes the values into an array."""

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree


def make_sgd(lr, momentum, decay):
    return optax.chain(
        optax.add_decayed_weights(decay), optax.sgd(lr, momentum=momentum, nesterov=True)
    )


def make_adamw(lr):
    return optax.adamw(learning_rate=lr, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.01)


def make_rmsprop(lr):
    return optax.rmsprop(lr, 0.99, eps_in_sqrt=False)


def train_step(tx, loss, params, state, x, y):
    flat, restore = ravel_pytree(params)
    value, grad = jax.value_and_grad(lambda v: loss(restore(v), x, y))(flat)
    updates, state = tx.update(restore(grad), state, params)
    return optax.apply_updates(params, updates), state, value


def fit(tx, loss, params, xs, ys):
    def body(i, carry):
        params, state, values = carry
        params, state, value = train_step(tx, loss, params, state, xs[i], ys[i])
        return params, state, values.at[i].set(value)

    start = params, tx.init(params), jnp.zeros(xs.shape[0])
    params, _, values = jax.lax.fori_loop(0, xs.shape[0], body, start)
    return params, values
