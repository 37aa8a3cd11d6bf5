"""A module of `Dense` and relu, stacked in `setup`."""

import flax.linen as nn
import jax
import jax.numpy as jnp

FEATURES = (16, 8, 4)


class Block(nn.Module):
    size: int

    @nn.compact
    def __call__(self, x):
        return nn.relu(nn.Dense(features=self.size)(x))


class MLP(nn.Module):
    features: tuple[int, ...] = FEATURES

    def setup(self):
        self.body = [Block(size) for size in self.features[:-1]]
        self.head = nn.Dense(features=self.features[-1])

    def __call__(self, x):
        for block in self.body:
            x = block(x)
        return self.head(x)


def init_params(key):
    init_key, data_key = jax.random.split(key)
    example = jax.random.normal(data_key, (2, 12), dtype=jnp.float32)
    params, _ = init_and_output(init_key, example)
    return params


def init_and_output(key, example):
    output, variables = MLP().init_with_output(key, example)
    return variables, output


def forward(params, x):
    return MLP().apply(params, x, mutable=False)
