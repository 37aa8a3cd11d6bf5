"""Flax's TrainState inside, optax's injected hyperparameters for the rates."""

import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


def make_sgd(lr, momentum, decay):
    @optax.inject_hyperparams
    def made(learning_rate):
        return optax.chain(
            optax.add_decayed_weights(weight_decay=decay),
            optax.sgd(learning_rate, momentum, nesterov=True),
        )

    return made(learning_rate=lr)


def make_adamw(lr):
    return optax.inject_hyperparams(optax.adamw)(learning_rate=lr, weight_decay=1e-2)


def make_rmsprop(lr):
    return optax.rmsprop(learning_rate=lr, decay=0.99, eps=1e-8, eps_in_sqrt=False, centered=False)


def train_step(tx, loss, params, state, x, y):
    holder = TrainState(step=0, apply_fn=loss, params=params, tx=tx, opt_state=state)
    value, grads = jax.value_and_grad(holder.apply_fn)(holder.params, x, y)
    holder = holder.apply_gradients(grads=grads)
    return holder.params, holder.opt_state, value


def fit(tx, loss, params, xs, ys):
    holder = TrainState.create(apply_fn=loss, params=params, tx=tx)

    @jax.jit
    def step(holder, x, y):
        value, grads = jax.value_and_grad(loss)(holder.params, x, y)
        return holder.apply_gradients(grads=grads), value

    values = []
    for x, y in zip(xs, ys):
        holder, value = step(holder, x, y)
        values += [value]
    return holder.params, jnp.array(values)
