import jax
import jax.numpy as jnp
from flax import nnx

counts = 2


class Norm(nnx.Module):
    def __init__(self, width):
        self.scale, self.bias = nnx.Param(jnp.ones(width)), nnx.Param(jnp.zeros(width))
        self.mean, self.var = nnx.BatchStat(jnp.zeros(width)), nnx.BatchStat(jnp.ones(width))

    def __call__(self, x, train):
        mean, var = self.mean[...], self.var[...]
        if train:
            mean, var = jnp.mean(x, 0), jnp.var(x, 0)
            self.mean[...] += 0.1 * (mean - self.mean[...])
            self.var[...] += 0.1 * (var - self.var[...])
        return (x - mean) / jnp.sqrt(var + 1e-5) * self.scale[...] + self.bias[...]


class Net(nnx.Module):
    def __init__(self, d, hidden, k, rate, *, rngs):
        self.first = nnx.Linear(d, hidden, rngs=rngs)
        self.norm = Norm(hidden)
        self.last = nnx.Linear(hidden, k, rngs=rngs)
        self.keep, self.rngs = 1.0 - rate, nnx.Rngs(rngs.dropout())

    def drop(self, x):
        mask = jax.random.bernoulli(self.rngs(), self.keep, x.shape)
        return jnp.where(mask, x / self.keep, 0.0)

    def __call__(self, x, train=True, drop=True):
        hidden = jax.nn.relu(self.norm(self.first(x), train))
        return self.last(self.drop(hidden) if drop else hidden)


@nnx.jit
def train_step(model, x, y, lr):
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)

    def loss(params):
        model = nnx.merge(graphdef, params, rest, copy=True)
        value = jnp.mean((model(x) - y) ** 2)
        return value, nnx.state(model, nnx.Not(nnx.Param))

    value, pull, rest = jax.vjp(loss, params, has_aux=True)
    (grads,) = pull(jnp.ones_like(value))
    nnx.update(model, jax.tree.map(lambda p, g: p - lr * g - lr * 0.1 * p, params, grads), rest)
    return value


@jax.jit
def predict(model, x):
    return model(x, train=False, drop=False)


def sample(model, x, n):
    copies = jnp.broadcast_to(x, (n, *x.shape)).reshape(-1, x.shape[-1])
    return model(copies, train=False).reshape(n, len(x), -1)
