import flax.linen as nn
import jax.numpy as jnp


class MLP(nn.Module):
    features: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        for size in self.features[:-1]:
            x = nn.relu(nn.Dense(size)(x))
        return nn.Dense(self.features[-1])(x)


model = MLP((16, 8, 4))


def init_params(key):
    return model.init(key, jnp.ones((1, 12)))


def forward(params, x):
    return model.apply(params, x)
