"""A hand-written backward pass, a named tuple inside, one `jit` around everything."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Params(NamedTuple):
    w1: jax.Array
    b1: jax.Array
    w2: jax.Array
    b2: jax.Array


def predict(params, x):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def loss_and_grads(p: Params, x, y):
    hidden = jnp.tanh(x @ p.w1 + p.b1)
    error = hidden @ p.w2 + p.b2 - y
    d_out = 2 * error / error.size
    d_hidden = (d_out @ p.w2.T) * (1 - hidden**2)
    grads = Params(x.T @ d_hidden, d_hidden.sum(0), hidden.T @ d_out, d_out.sum(0))
    return jnp.mean(error**2), grads


@jax.jit
def train_step(params, velocity, x, y):
    loss, grads = loss_and_grads(Params(**params), x, y)
    velocity = Params(*(0.9 * v + g for v, g in zip(Params(**velocity), grads)))
    params = Params(*(p - 0.05 * v for p, v in zip(Params(**params), velocity)))
    return params._asdict(), velocity._asdict(), loss
