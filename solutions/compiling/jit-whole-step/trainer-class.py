"""A frozen dataclass for the configuration, a static argument of its jitted method."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


@dataclasses.dataclass(frozen=True)
class Trainer:
    learning_rate: float = 0.05
    momentum: float = 0.9

    def loss(self, params, x, y):
        return jnp.mean((predict(params, x) - y) ** 2)

    @partial(jax.jit, static_argnums=0)
    def step(self, params, velocity, x, y):
        loss, pullback = jax.vjp(partial(self.loss, x=x, y=y), params)
        (grads,) = pullback(1.0)
        velocity = jax.tree.map(lambda v, g: self.momentum * v + g, velocity, grads)
        params = jax.tree.map(lambda p, v: p - self.learning_rate * v, params, velocity)
        return params, velocity, loss


train_step = Trainer().step
