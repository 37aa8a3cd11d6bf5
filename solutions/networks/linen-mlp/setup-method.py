"""Submodules in `setup`, as in a PyTorch `__init__`; keeps the inner dict of parameters."""

from collections.abc import Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp


class MLP(nn.Module):
    features: Sequence[int]

    def setup(self):
        self.layers = [nn.Dense(n) for n in self.features]

    def __call__(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = jax.nn.relu(layer(x))
        return last(x)


def init_params(key):
    return MLP((16, 8, 4)).init(key, jnp.zeros((1, 12)))["params"]


def forward(params, x):
    return MLP((16, 8, 4)).apply({"params": params}, x)
