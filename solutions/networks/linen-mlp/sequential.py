"""`nn.Sequential` inside a compact module; `init` and `apply` under `jit`."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class MLP(nn.Module):
    features: tuple[int, ...]

    @nn.compact
    def __call__(self, x):
        layers, n_in = [], x.shape[-1]
        for size in self.features:
            spread = nn.initializers.variance_scaling(1 / 3, "fan_in", "uniform")
            # The row of a matrix with as many rows as the layer has inputs.
            bias = lambda key, shape, dtype, n=n_in: spread(key, (n, *shape), dtype)[0]  # noqa: E731
            layers += [nn.Dense(size, kernel_init=spread, bias_init=bias), nn.relu]
            n_in = size
        return nn.Sequential(layers[:-1])(x)


net = MLP(features=(16, 8, 4))


@jax.jit
def init_params(key):
    return net.init(key, jnp.empty((12,)))


forward = jax.jit(net.apply)
ensemble = jax.jit(jax.vmap(net.apply, in_axes=(0, None)))


@jax.jit
def tune_last(params, x, y, lr):
    hidden = [name for name in params["params"] if not name.endswith("_2")]

    def loss(p):
        inner = {k: jax.lax.stop_gradient(v) if k in hidden else v for k, v in p["params"].items()}
        return ((forward({"params": inner}, x) - y) ** 2).mean()

    return jax.tree.map(lambda p, g: p - lr * g, params, jax.grad(loss)(params))
