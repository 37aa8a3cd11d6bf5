from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from beartype import beartype
from jaxtyping import Array, Float, jaxtyped

annotated = None


@jaxtyped(typechecker=beartype)
def attention(
    q: Float[Array, "n d"],
    k: Float[Array, "m d"],
    v: Float[Array, "m e"],
    bias: Float[Array, "m"],
) -> Float[Array, "n e"]:
    scores = q @ k.T / q.shape[1] ** 0.5 + bias
    return jax.nn.softmax(scores) @ v


class MLP(eqx.Module):
    layers: list
    activation: Callable

    def __init__(self, sizes, activation, key):
        keys = jax.random.split(key, len(sizes))
        pairs = zip(sizes, sizes[1:], keys)
        self.layers = [eqx.nn.Linear(i, o, key=k) for i, o, k in pairs]
        self.activation = activation

    @jaxtyped(typechecker=beartype)
    def __call__(self, x: Float[Array, "d"]) -> Float[Array, "k"]:
        *hidden, last = self.layers
        for layer in hidden:
            x = self.activation(layer(x))
        return last(x)


def replace_head(model, head):
    return eqx.tree_at(lambda m: m.layers[-1], model, head)


def split(where, model):
    spec = jax.tree.map(lambda _: False, model)
    spec = eqx.tree_at(where, spec, replace_fn=lambda _: True)
    return eqx.partition(model, spec)


def start(tx, where, model):
    return tx.init(split(where, model)[0])


@eqx.filter_jit
def train_step(tx, where, model, opt_state, x, y):
    trained, frozen = split(where, model)

    def loss(trained):
        outputs = jax.vmap(eqx.combine(trained, frozen))(x)
        return optax.squared_error(outputs, y).mean()

    value, grads = eqx.filter_value_and_grad(loss)(trained)
    updates, opt_state = tx.update(grads, opt_state, trained)
    trained = eqx.apply_updates(trained, updates)
    return eqx.combine(trained, frozen), opt_state, value
