"""A Linen module that gets PyTorch's weights as its parameters."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

after_sixty_steps = "c"


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(128)(x))
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(10)(x)


def port(state):
    layers = {
        f"Dense_{i}": {"kernel": state[f"{2 * i}.weight"].T, "bias": state[f"{2 * i}.bias"]}
        for i in range(3)
    }
    return {"params": layers}


def scores(params, x):
    return Net().apply(params, x)


def loss(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(scores(params, x), y).sum()


def update(params, x, y, lr):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


@jax.jit
def train(params, xs, ys, lr):
    def body(params, batch):
        x, y = batch
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), value

    params, losses = jax.lax.scan(body, params, (xs, ys))
    return losses, params


def accuracy(params, x, y):
    return jnp.where(scores(params, x).argmax(-1) == y, 1.0, 0.0).mean()
