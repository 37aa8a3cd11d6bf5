"""Parameters are written one by one, snapshots are lists of copies by path."""

import jax
import jax.numpy as jnp
from flax import nnx


class Calls(nnx.Variable):
    """The number of calls."""


class MLP(nnx.Module):
    def __init__(self, n_in: int, features: tuple[int, ...], *, rngs: nnx.Rngs):
        pairs = zip((n_in, *features), features)
        self.layers = nnx.List(nnx.Linear(i, o, rngs=rngs) for i, o in pairs)
        self.calls = Calls(jnp.int32(0))

    def __call__(self, x: jax.Array) -> jax.Array:
        self.calls[...] += 1
        for number, layer in enumerate(self.layers):
            x = layer(x)
            if number + 1 < len(self.layers):
                x = nnx.relu(x)
        return x


def loss_fn(model, x, y):
    return jnp.mean(jnp.square(model(x) - y))


@nnx.jit
def train_step(model, x, y, lr):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    gradients = dict(nnx.to_flat_state(grads))
    for path, param in nnx.to_flat_state(nnx.state(model, nnx.Param)):
        param[...] = param[...] - lr * gradients[path][...]
    return loss


def snapshot(model):
    flat = nnx.to_flat_state(nnx.state(model, nnx.Param))
    return {"/".join(map(str, path)): jnp.copy(param[...]) for path, param in flat}


def restore(model, tree):
    for path, param in nnx.to_flat_state(nnx.state(model, nnx.Param)):
        param[...] = tree["/".join(map(str, path))]
