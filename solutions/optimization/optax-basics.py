"""A step takes parameters and state, whatever the optimizer; a training folds it over batches."""

import jax
import jax.numpy as jnp
import optax


def make_sgd(lr, momentum, decay):
    step = optax.sgd(lr, momentum=momentum, nesterov=True)
    return optax.chain(optax.add_decayed_weights(decay), step)


def make_adamw(lr):
    return optax.adamw(lr, weight_decay=0.01)


def make_rmsprop(lr):
    return optax.rmsprop(lr, decay=0.99, eps_in_sqrt=False)


def train_step(tx, loss, params, state, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, value


def fit(tx, loss, params, xs, ys):
    state, values = tx.init(params), []
    for x, y in zip(xs, ys):
        params, state, value = train_step(tx, loss, params, state, x, y)
        values.append(value)
    return params, jnp.stack(values)
