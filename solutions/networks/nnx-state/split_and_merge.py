from functools import partial

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
        return self.last(self.drop(jax.nn.relu(self.norm(self.first(x)))))


@partial(jax.jit, static_argnums=0)
def pure_step(graphdef, params, rest, x, y, lr):
    def loss(params):
        model = nnx.merge(graphdef, params, rest, copy=True)
        error = model(x) - y
        return jnp.mean(error**2), nnx.state(model, nnx.Not(nnx.Param))

    (value, rest), grads = jax.value_and_grad(loss, has_aux=True)(params)
    params = jax.tree.map(lambda p, g: (1 - 0.1 * lr) * p - lr * g, params, grads)
    return value, params, rest


def train_step(model, x, y, lr):
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    value, params, rest = pure_step(graphdef, params, rest, x, y, lr)
    nnx.update(model, params, rest)
    return value


def predict(model, x):
    return jax.jit(lambda model, x: model(x))(
        nnx.view(model, deterministic=True, use_running_average=True), x
    )


def sample(model, x, n):
    model.norm.use_running_average = True
    outs = [model(x)[None] for _ in range(n)]
    model.norm.use_running_average = False
    return jnp.concatenate(outs)
