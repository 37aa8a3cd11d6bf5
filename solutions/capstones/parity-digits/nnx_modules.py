"""NNX modules inside, split into a graph definition and a state that is the parameters."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

after_sixty_steps = "c"


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(64, 128, rngs=rngs)
        self.second = nnx.Linear(128, 128, rngs=rngs)
        self.last = nnx.Linear(128, 10, rngs=rngs)

    def __call__(self, x):
        return self.last(nnx.relu(self.second(nnx.relu(self.first(x)))))


graphdef, _ = nnx.split(Net(nnx.Rngs(0)))


def port(state):
    layers = {}
    for name, number in (("first", 0), ("second", 2), ("last", 4)):
        kernel, bias = state[f"{number}.weight"].T, state[f"{number}.bias"]
        layers[name] = {"kernel": nnx.Param(kernel), "bias": nnx.Param(bias)}
    return nnx.State(layers)


def scores(params, x):
    return nnx.merge(graphdef, params)(x)


def loss(params, x, y):
    return optax.losses.softmax_cross_entropy_with_integer_labels(scores(params, x), y).sum()


def update(params, x, y, lr):
    _, pull = jax.vjp(lambda p: loss(p, x, y), params)
    (grads,) = pull(jnp.float32(1))
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


@jax.jit
def train(params, xs, ys, lr):
    def body(params, batch):
        return update(params, *batch, lr), loss(params, *batch)

    params, losses = jax.lax.scan(body, params, (xs, ys))
    return losses, params


def accuracy(params, x, y):
    return (jnp.argmax(scores(params, x), 1) == y).astype(jnp.float32).mean()
