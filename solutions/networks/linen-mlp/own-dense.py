"""A hand-written `Dense` with `self.param`, with the weights in an `einsum`."""

import flax.linen as nn
import jax.numpy as jnp


class Dense(nn.Module):
    n_out: int

    @nn.compact
    def __call__(self, x):
        kernel = self.param("kernel", nn.initializers.lecun_normal(), (x.shape[-1], self.n_out))
        bias = self.param("bias", nn.initializers.zeros_init(), (self.n_out,))
        return jnp.einsum("...i,io->...o", x, kernel) + bias


class MLP(nn.Module):
    features: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        last = len(self.features) - 1
        for i, n in enumerate(self.features):
            x = Dense(n)(x)
            if i < last:
                x = jnp.maximum(x, 0)
        return x


def init_params(key):
    variables = MLP((16, 8, 4)).init({"params": key}, jnp.ones((1, 12)))
    return variables["params"]


def forward(params, x):
    return MLP((16, 8, 4)).apply({"params": params}, x)
