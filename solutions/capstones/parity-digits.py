"""PyTorch's own weights in PyTorch's own layout, transposed where the network uses them."""

import jax
import jax.numpy as jnp

after_sixty_steps = "c"


def port(state):
    return dict(state)


def scores(params, x):
    h = jax.nn.relu(x @ params["0.weight"].T + params["0.bias"])
    h = jax.nn.relu(h @ params["2.weight"].T + params["2.bias"])
    return h @ params["4.weight"].T + params["4.bias"]


def loss(params, x, y):
    logs = jax.nn.log_softmax(scores(params, x))
    return -jnp.take_along_axis(logs, y[:, None], 1).sum()


def update(params, x, y, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, jax.grad(loss)(params, x, y))


def train(params, xs, ys, lr):
    def body(params, batch):
        return update(params, *batch, lr), loss(params, *batch)

    start = params
    params, losses = jax.lax.scan(body, start, (xs, ys))
    return losses, params


def accuracy(params, x, y):
    return (scores(params, x).argmax(1) == y).mean()
