"""The arrays to train as a list, put back by tree_at."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from beartype import beartype
from jaxtyping import Array, Float, jaxtyped

annotated = None


@jaxtyped(typechecker=beartype)
def attention(
    q: Float[Array, "queries d"],
    k: Float[Array, "keys d"],
    v: Float[Array, "keys e"],
    bias: Float[Array, " keys"],
) -> Float[Array, "queries e"]:
    scores = jnp.einsum("nd,md->nm", q, k) / jnp.sqrt(q.shape[-1]) + bias[None, :]
    return jnp.einsum("nm,me->ne", jax.nn.softmax(scores), v)


class MLP(eqx.Module):
    layers: tuple
    activation: object = eqx.field(static=True)

    def __init__(self, sizes, activation, key):
        layers = []
        for i in range(len(sizes) - 1):
            sub = jax.random.fold_in(key, i)
            layers.append(eqx.nn.Linear(sizes[i], sizes[i + 1], key=sub))
        self.layers = tuple(layers)
        self.activation = activation

    @jaxtyped(typechecker=beartype)
    def __call__(self, x: Float[Array, "_"]):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


def replace_head(model, head):
    layers = (*model.layers[:-1], head)
    return eqx.tree_at(lambda m: m.layers, model, layers)


def start(tx, where, model):
    return tx.init(where(model))


@eqx.filter_jit
def train_step(tx, where, model, opt_state, x, y):
    def loss(arrays):
        filled = eqx.tree_at(where, model, arrays)
        return ((jax.vmap(filled)(x) - y) ** 2).mean()

    arrays = where(model)
    value, grads = jax.value_and_grad(loss)(arrays)
    updates, opt_state = tx.update(grads, opt_state, arrays)
    arrays = optax.apply_updates(arrays, updates)
    return eqx.tree_at(where, model, arrays), opt_state, value
