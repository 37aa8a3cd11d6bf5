"""The module says how; the tree of parameters is an argument like any other.

So `ensemble` is a `vmap` over it, and `tune_last` a `grad` with respect to a part of it.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp


class MLP(nn.Module):
    features: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        for size in self.features[:-1]:
            x = nn.relu(dense(size, x)(x))
        return dense(self.features[-1], x)(x)


def dense(size, x):
    bound = x.shape[-1] ** -0.5

    def start(key, shape, dtype=jnp.float32):
        return jax.random.uniform(key, shape, dtype, -bound, bound)

    return nn.Dense(size, kernel_init=start, bias_init=start)


model = MLP((16, 8, 4))


def init_params(key):
    return model.init(key, jnp.ones((1, 12)))


def forward(params, x):
    return model.apply(params, x)


def ensemble(many, x):
    return jax.vmap(forward, in_axes=(0, None))(many, x)


def with_last(params, last):
    return {"params": {**params["params"], "Dense_2": last}}


def tune_last(params, x, y, lr):
    def loss(last):
        return ((forward(with_last(params, last), x) - y) ** 2).mean()

    last = params["params"]["Dense_2"]
    last = jax.tree.map(lambda p, g: p - lr * g, last, jax.grad(loss)(last))
    return with_last(params, last)
