"""Named layers with the output called `head`, other initialisers, a configurable activation."""

from collections.abc import Callable

import flax.linen as nn
import jax
import jax.numpy as jnp


class MLP(nn.Module):
    features: tuple[int, ...]
    activation: Callable[[jax.Array], jax.Array] = nn.relu
    kernel_init: nn.initializers.Initializer = nn.initializers.he_normal()

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        *hidden, n_out = self.features
        for i, size in enumerate(hidden):
            x = nn.Dense(size, kernel_init=self.kernel_init, name=f"hidden_{i}")(x)
            x = self.activation(x)
        return nn.Dense(n_out, name="head")(x)


def make_model() -> MLP:
    return MLP((16, 8, 4))


def init_params(key):
    example = jax.ShapeDtypeStruct((1, 12), jnp.float32)
    return make_model().lazy_init(key, example)


def forward(params, x):
    return make_model().bind(params)(x)
