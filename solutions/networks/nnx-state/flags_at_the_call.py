import jax.numpy as jnp
from flax import nnx

counts = 2


class Net(nnx.Module):
    def __init__(self, d, hidden, k, rate, *, rngs: nnx.Rngs):
        self.norm = nnx.BatchNorm(hidden, momentum=1 - 0.1, rngs=rngs)
        self.last = nnx.Linear(hidden, k, rngs=rngs)
        self.first = nnx.Linear(d, hidden, rngs=rngs)
        self.noise = rngs.dropout.fork()
        self.drop = nnx.Dropout(rate)

    def __call__(self, x, averages=False, noise=True):
        hidden = self.norm(self.first(x), use_running_average=averages)
        hidden = self.drop(nnx.relu(hidden), deterministic=not noise, rngs=self.noise)
        return self.last(hidden)


def loss(model, x, y):
    return jnp.mean(jnp.square(y - model(x)))


def descend(variable, grad, lr):
    variable[...] -= lr * (grad + 0.1 * variable[...])


@nnx.jit
def train_step(model, x, y, lr):
    value, grads = nnx.value_and_grad(loss, argnums=nnx.DiffState(0, nnx.Param))(model, x, y)
    for name in ("first", "last"):
        layer = getattr(model, name)
        descend(layer.kernel, grads[name]["kernel"][...], lr)
        descend(layer.bias, grads[name]["bias"][...], lr)
    descend(model.norm.scale, grads["norm"]["scale"][...], lr)
    descend(model.norm.bias, grads["norm"]["bias"][...], lr)
    return value


@nnx.jit
def predict(model, x):
    return model(x, averages=True, noise=False)


@nnx.jit(static_argnums=2)
def sample(model, x, n):
    return jnp.stack([model(x, averages=True) for _ in range(n)])
