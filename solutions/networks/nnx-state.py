import jax
import jax.numpy as jnp
from flax import nnx

counts = 2


class Net(nnx.Module):
    def __init__(self, d, hidden, k, rate, *, rngs):
        self.first = nnx.Linear(d, hidden, rngs=rngs)
        self.norm = nnx.BatchNorm(hidden, momentum=0.9, rngs=rngs)
        self.drop = nnx.Dropout(rate, rngs=rngs)
        self.last = nnx.Linear(hidden, k, rngs=rngs)

    def __call__(self, x):
        return self.last(self.drop(nnx.relu(self.norm(self.first(x)))))


@nnx.jit
def train_step(model, x, y, lr):
    def loss(model):
        return ((model(x) - y) ** 2).mean()

    value, grads = nnx.value_and_grad(loss)(model)
    params = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree.map(lambda p, g: p - lr * (g + 0.1 * p), params, grads))
    return value


def predict(model, x):
    return nnx.view(model, deterministic=True, use_running_average=True)(x)


def sample(model, x, n):
    noisy = nnx.view(model, deterministic=False, use_running_average=True)
    return jnp.stack([noisy(x) for _ in range(n)])
