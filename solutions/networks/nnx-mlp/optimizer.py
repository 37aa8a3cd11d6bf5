"""nnx.Optimizer for the step, a Variable class of its own, snapshots as plain dicts of NumPy arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Count(nnx.Variable):
    pass


class MLP(nnx.Module):
    def __init__(self, n_in, features, *, rngs: nnx.Rngs):
        self.hidden = nnx.List()
        for size in features[:-1]:
            self.hidden.append(nnx.Linear(n_in, size, rngs=rngs))
            n_in = size
        self.head = nnx.Linear(n_in, features[-1], rngs=rngs)
        self.calls = Count(jnp.zeros((), jnp.int32))

    def __call__(self, x):
        self.calls[...] = self.calls[...] + 1
        for layer in self.hidden:
            x = jax.nn.relu(layer(x))
        return self.head(x)


@nnx.jit
def train_step(model, x, y, lr):
    optimizer = nnx.Optimizer(model, optax.sgd(lr), wrt=nnx.Param)
    loss, grads = nnx.value_and_grad(lambda m: optax.squared_error(m(x), y).mean())(model)
    optimizer.update(model, grads)
    return loss


def snapshot(model):
    return jax.tree.map(np.array, nnx.to_pure_dict(nnx.state(model, nnx.Param)))


def restore(model, tree):
    state = nnx.state(model, nnx.Param)
    nnx.replace_by_pure_dict(state, tree)
    nnx.update(model, state)
