"""Momentum from optax: the velocity is the state of `optax.trace`."""

import jax
import jax.numpy as jnp
import optax

LEARNING_RATE = 0.05
momentum = optax.trace(decay=0.9)


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def train_step(params, velocity, x, y):
    def loss_fn(params):
        return jnp.mean(optax.squared_error(predict(params, x), y))

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = momentum.update(grads, optax.TraceState(trace=velocity), params)
    updates = optax.tree_utils.tree_scale(-LEARNING_RATE, updates)
    return optax.apply_updates(params, updates), state.trace, loss


train_step = jax.jit(train_step)
