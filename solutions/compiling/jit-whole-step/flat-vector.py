"""All parameters in one vector; an inner jitted step takes the hyperparameters as arguments."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


@jax.jit
def _step(params, velocity, x, y, lr, mu):
    flat, unravel = ravel_pytree(params)
    flat_velocity, _ = ravel_pytree(velocity)

    def loss_fn(flat):
        return ((predict(unravel(flat), x) - y) ** 2).mean()

    loss, grad = jax.value_and_grad(loss_fn)(flat)
    flat_velocity = mu * flat_velocity + grad
    return unravel(flat - lr * flat_velocity), unravel(flat_velocity), loss


def train_step(params, velocity, x, y):
    return _step(params, velocity, x, y, lr=0.05, mu=0.9)
