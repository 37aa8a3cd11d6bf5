"""The state is a struct, the key moves in place, and the module is bound to its variables."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn
from flax import struct

copied_momentum = 90


class Net(nn.Module):
    hidden: int
    out: int
    rate: float

    @nn.compact
    def __call__(self, x, train: bool = False):
        x = jnp.asarray(x)
        x = nn.Dense(self.hidden, False)(x)
        x = nn.relu(nn.BatchNorm(axis=-1, momentum=0.9, use_fast_variance=False)(x, not train))
        if train:
            x = nn.Dropout(self.rate)(x, False)
        return nn.Dense(self.out)(x)


@struct.dataclass
class State:
    params: Any
    stats: Any
    key: jax.Array

    def variables(self):
        return {"params": self.params, "batch_stats": self.stats}


def start(variables, key):
    return State(params=variables["params"], stats=variables["batch_stats"], key=key)


def objective(params, net, state, x, y, key):
    out, new = net.apply(
        state.replace(params=params).variables(), x, True, mutable=True, rngs={"dropout": key}
    )
    return jnp.sum((out - y) ** 2) / y.size, new["batch_stats"]


def train_step(net, state, x, y, lr):
    keys = jax.random.split(state.key)
    gradient = jax.value_and_grad(objective, has_aux=True)
    (value, stats), grads = gradient(state.params, net, state, x, y, keys[1])
    leaves, structure = jax.tree.flatten(state.params)
    leaves = [p - lr * g for p, g in zip(leaves, jax.tree.leaves(grads), strict=True)]
    return State(structure.unflatten(leaves), stats, keys[0]), value


def predict(net, state, x):
    return net.bind(state.variables())(x)


def read(state):
    return state.variables()
