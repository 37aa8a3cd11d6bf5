"""`nn.Sequential` inside a compact module; `init` and `apply` under `jit`."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class MLP(nn.Module):
    features: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        layers = []
        for size in self.features:
            layers += [nn.Dense(size), nn.relu]
        return nn.Sequential(layers[:-1])(x)


net = MLP(features=(16, 8, 4))


@jax.jit
def init_params(key):
    return net.init(key, jnp.empty((12,)))


forward = jax.jit(net.apply)
