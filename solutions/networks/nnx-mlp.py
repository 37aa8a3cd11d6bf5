"""What changes is a Variable: parameters, and a count that no gradient touches."""

import jax
import jax.numpy as jnp
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, n_in, features, *, rngs):
        sizes = (n_in, *features)
        self.layers = nnx.List([nnx.Linear(i, o, rngs=rngs) for i, o in zip(sizes, sizes[1:])])
        self.calls = nnx.Variable(jnp.int32(0))

    def __call__(self, x):
        self.calls[...] += 1
        *hidden, last = self.layers
        for layer in hidden:
            x = nnx.relu(layer(x))
        return last(x)


@nnx.jit
def train_step(model, x, y, lr):
    def loss_fn(model):
        return ((model(x) - y) ** 2).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    params = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree.map(lambda p, g: p - lr * g, params, grads))
    return loss


def snapshot(model):
    return jax.tree.map(jnp.copy, nnx.state(model, nnx.Param))


def restore(model, tree):
    nnx.update(model, tree)
