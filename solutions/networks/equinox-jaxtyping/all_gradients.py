"""Differentiates with respect to all floats, and uses some of the gradients."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from beartype import beartype
from jaxtyping import Array, Float, Float32, jaxtyped

annotated = None
typed = jaxtyped(typechecker=beartype)


@typed
def attention(
    q: Float32[Array, "n d"],
    k: Float32[Array, "m d"],
    v: Float32[Array, "m e"],
    bias: Float32[Array, "m"],
):
    def one(query):
        return jax.nn.softmax(k @ query / len(query) ** 0.5 + bias) @ v

    return jax.vmap(one)(q)


class MLP(eqx.Module):
    layers: list[eqx.nn.Linear]
    activation: eqx.nn.Lambda

    def __init__(self, sizes, activation, key):
        self.layers = []
        for i, o in zip(sizes[:-1], sizes[1:], strict=True):
            key, sub = jax.random.split(key)
            self.layers.append(eqx.nn.Linear(i, o, key=sub))
        self.activation = eqx.nn.Lambda(activation)

    @typed
    def __call__(self, x: Float[Array, "d"]):
        for i, layer in enumerate(self.layers):
            x = layer(x) if i == 0 else layer(self.activation(x))
        return x


def replace_head(model, head):
    n = len(model.layers)
    return eqx.tree_at(lambda m: m.layers[n - 1], model, replace=head)


def selected(where, model):
    """The model with None for all that is not trained."""
    chosen = {id(array) for array in where(model)}
    return jax.tree.map(lambda leaf: leaf if id(leaf) in chosen else None, model)


def start(tx, where, model):
    return tx.init(selected(where, model))


@eqx.filter_value_and_grad
def loss(model, x, y):
    return jnp.square(jax.vmap(model)(x) - y).mean()


@partial(eqx.filter_jit, donate="none")
def train_step(tx, where, model, opt_state, x, y):
    value, grads = loss(model, x, y)
    trained = selected(where, model)
    updates, opt_state = tx.update(selected(where, grads), opt_state, trained)
    return eqx.apply_updates(model, updates), opt_state, value
