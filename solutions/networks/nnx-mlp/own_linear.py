"""Kernels as Params of the module itself, split and merged around a plain jit."""

import functools

import jax
import jax.numpy as jnp
from flax import nnx


class MLP(nnx.Module):
    def __init__(self, n_in, features, *, rngs):
        init = nnx.initializers.he_normal()
        sizes = [n_in, *features]
        self.kernels = nnx.List([])
        self.biases = nnx.List([])
        for i, o in zip(sizes[:-1], sizes[1:]):
            self.kernels.append(nnx.Param(init(rngs.params(), (i, o))))
            self.biases.append(nnx.Param(jnp.zeros(o)))
        self.calls = nnx.Variable(jnp.int32(0))

    def __call__(self, x):
        self.calls[...] += 1
        last = len(self.kernels) - 1
        for i, (kernel, bias) in enumerate(zip(self.kernels, self.biases)):
            x = jnp.dot(x, kernel[...]) + bias[...]
            if i < last:
                x = jnp.maximum(x, 0)
        return x


@functools.partial(jax.jit, static_argnums=0)
def pure_step(graphdef, params, rest, x, y, lr):
    def loss_fn(params):
        model = nnx.merge(graphdef, params, rest, copy=True)
        loss = jnp.mean((model(x) - y) ** 2)
        return loss, nnx.state(model, nnx.Not(nnx.Param))

    (loss, rest), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads), rest, loss


def train_step(model, x, y, lr):
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    params, rest, loss = pure_step(graphdef, params, rest, x, y, lr)
    nnx.update(model, params, rest)
    return loss


def snapshot(model):
    leaves = jax.tree.leaves(nnx.state(model, nnx.Param))
    return [jnp.array(leaf) for leaf in leaves]


def restore(model, tree):
    structure = jax.tree.structure(nnx.state(model, nnx.Param))
    nnx.update(model, jax.tree.unflatten(structure, tree))
