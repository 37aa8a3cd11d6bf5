"""Gradients of all floats; a masked optimizer moves those that are to be trained."""

import operator

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from beartype import beartype
from jaxtyping import Array, Float, jaxtyped

annotated = None

Matrix = Float[Array, "m d"]


@jaxtyped(typechecker=beartype)
def attention(
    q: Float[Array, "n d"], k: Matrix, v: Float[Array, "m e"], bias: Float[Array, "m"]
) -> Float[Array, "n e"]:
    logits = jnp.matmul(q, jnp.transpose(k)) * jax.lax.rsqrt(float(q.shape[-1])) + bias
    return jnp.exp(logits - jax.nn.logsumexp(logits, axis=-1, keepdims=True)) @ v


class MLP(eqx.Module):
    layers: list[eqx.nn.Linear]
    activation: object

    def __init__(self, sizes, activation, key):
        self.activation = activation
        self.layers = []
        for size_in, size_out in zip(sizes[:-1], sizes[1:]):
            key, own = jax.random.split(key)
            self.layers.append(eqx.nn.Linear(size_in, size_out, use_bias=True, key=own))

    def hidden(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return x

    @jaxtyped(typechecker=beartype)
    def __call__(self, x: Float[Array, "features"]) -> Float[Array, "outputs"]:
        return self.layers[-1](self.hidden(x))


def replace_head(model, head):
    return eqx.tree_at(lambda m: m.layers, model, [*model.layers[:-1], head])


def masked(tx, where, params):
    still = jax.tree.map(lambda _: False, params)
    moving = eqx.tree_at(where, still, replace_fn=operator.not_)
    rest = jax.tree.map(operator.not_, moving)
    return optax.chain(optax.masked(tx, moving), optax.masked(optax.set_to_zero(), rest))


def start(tx, where, model):
    params = eqx.filter(model, eqx.is_inexact_array)
    return masked(tx, where, params).init(params)


@eqx.filter_jit
def train_step(tx, where, model, opt_state, x, y):
    params, static = eqx.partition(model, eqx.is_inexact_array)

    def loss(params):
        predicted = eqx.filter_vmap(eqx.combine(params, static))(x)
        return jnp.mean(optax.losses.squared_error(predicted, y))

    value, grads = jax.value_and_grad(loss)(params)
    updates, opt_state = masked(tx, where, params).update(grads, opt_state, params)
    return eqx.apply_updates(model, updates), opt_state, value
