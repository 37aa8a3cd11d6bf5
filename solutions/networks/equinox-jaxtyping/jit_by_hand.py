"""jax.jit and jax.grad on the arrays alone; the rest is static by hand."""

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from beartype import beartype
from jaxtyping import Array, Float, jaxtyped

annotated = None


@jaxtyped(typechecker=None)
@beartype
def attention(
    q: Float[Array, "n d"],
    k: Float[Array, "m d"],
    v: Float[Array, "m e"],
    bias: Float[Array, "m"],
) -> Float[Array, "n e"]:
    scores = jnp.exp(q @ k.T / q.shape[1] ** 0.5 + bias)
    return scores @ v / scores.sum(axis=1, keepdims=True)


class MLP(eqx.Module):
    layers: list
    activation: Any

    def __init__(self, sizes, activation, key):
        keys = iter(jax.random.split(key, len(sizes)))
        self.layers = [eqx.nn.Linear(*s, key=next(keys)) for s in zip(sizes, sizes[1:])]
        self.activation = activation

    @jaxtyped(typechecker=beartype)
    def __call__(self, x: Float[Array, "d"]) -> Float[Array, "k"]:
        x = self.layers[0](x)
        for layer in self.layers[1:]:
            x = layer(self.activation(x))
        return x


def replace_head(model, head):
    leaves, treedef = jax.tree.flatten(model, is_leaf=lambda leaf: leaf is model.layers[-1])
    leaves = [head if leaf is model.layers[-1] else leaf for leaf in leaves]
    return jax.tree.unflatten(treedef, leaves)


def start(tx, where, model):
    return tx.init(where(model))


@partial(jax.jit, static_argnums=(0, 1, 2))
def compiled(tx, where, rest, arrays, opt_state, x, y):
    treedef, static = rest
    model = eqx.combine(arrays, jax.tree.unflatten(treedef, static))

    def loss(chosen):
        outputs = jax.vmap(eqx.tree_at(where, model, chosen))(x)
        return jnp.mean((outputs - y) ** 2)

    value, grads = jax.value_and_grad(loss)(where(model))
    updates, opt_state = tx.update(grads, opt_state, where(model))
    chosen = optax.apply_updates(where(model), updates)
    return eqx.filter(eqx.tree_at(where, model, chosen), eqx.is_array), opt_state, value


def train_step(tx, where, model, opt_state, x, y):
    arrays, rest = eqx.partition(model, eqx.is_array)
    leaves, treedef = jax.tree.flatten(rest, is_leaf=lambda leaf: leaf is None)
    static = (treedef, tuple(leaves))
    arrays, opt_state, value = compiled(tx, where, static, arrays, opt_state, x, y)
    return eqx.combine(arrays, rest), opt_state, value
