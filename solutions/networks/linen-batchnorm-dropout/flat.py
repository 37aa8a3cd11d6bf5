"""All parameters in one vector, the gradient by vjp, and the whole step compiled."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import linen as nn
from jax.flatten_util import ravel_pytree

copied_momentum = 90


class Net(nn.Module):
    hidden: int
    out: int
    rate: float

    @nn.compact
    def __call__(self, x, train):
        norm = partial(nn.BatchNorm, use_running_average=not train, momentum=0.9, epsilon=1e-5)
        h = norm(name="norm")(nn.Dense(features=self.hidden, use_bias=False, name="z")(x))
        h = nn.Dropout(rate=self.rate, name="mask")(jnp.maximum(h, 0), deterministic=not train)
        return nn.Dense(features=self.out, name="a")(h)


class State(NamedTuple):
    variables: dict
    key: jax.Array


def start(variables, key):
    return State({**variables}, key)


@partial(jax.jit, static_argnums=0)
def train_step(net, state, x, y, lr):
    now, later = jax.random.split(state.key, 2)
    others, params = state.variables["batch_stats"], state.variables["params"]
    flat, unravel = ravel_pytree(params)

    def loss(flat):
        variables = {"params": unravel(flat), "batch_stats": others}
        out, changed = net.apply(variables, x, True, rngs={"dropout": now}, mutable=["batch_stats"])
        return jnp.mean(jnp.square(y - out)), changed

    value, pull, changed = jax.vjp(loss, flat, has_aux=True)
    (grad,) = pull(jnp.ones_like(value))
    return State({"params": unravel(flat - lr * grad), **changed}, later), value


@partial(jax.jit, static_argnums=0)
def predict(net, state, x):
    return net.apply(state.variables, x, False)


def read(state):
    return state.variables
