"""nnx.Sequential inside, snapshots as clones of the state, gradients by nnx.grad."""

import jax
import jax.numpy as jnp
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, n_in, features, *, rngs):
        layers = []
        for n_out in features:
            layers += [nnx.Linear(n_in, n_out, rngs=rngs), nnx.relu]
            n_in = n_out
        self.net = nnx.Sequential(*layers[:-1])
        self.calls = nnx.Variable(jnp.array(0, dtype=jnp.int32))

    def __call__(self, x):
        self.calls.set_value(self.calls.get_value() + 1)
        return self.net(x)


def train_step(model, x, y, lr):
    return _step(model, x, y, lr)


@nnx.jit
def _step(model, x, y, lr):
    def loss_fn(m):
        error = m(x) - y
        loss = jnp.sum(error * error) / error.size
        return loss, loss

    grads, loss = nnx.grad(loss_fn, has_aux=True)(model)
    state = nnx.state(model, nnx.Param)
    new = jax.tree.map(lambda p, g: p + -lr * g, state, grads)
    nnx.update(model, new)
    return loss


def snapshot(model):
    return nnx.state(nnx.clone(model), nnx.Param)


def restore(model, tree):
    nnx.update(model, jax.tree.map(lambda leaf: leaf + 0, tree))
