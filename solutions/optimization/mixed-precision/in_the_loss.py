from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import tree_util
from jax.flatten_util import ravel_pytree


def cast(tree, dtype):
    def convert(leaf):
        if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return leaf
        return jax.lax.convert_element_type(leaf, dtype) if leaf.dtype.kind in "fV" else leaf

    return tree_util.tree_map(convert, tree)


def mixed(f, dtype):
    return lambda *args: cast(f(*(cast(a, dtype) for a in args)), jnp.float32)


class Step(NamedTuple):
    params: object
    state: object


def train_step(net, loss, tx, every, params, state, scaling, x, y):
    scale, good = scaling["scale"], scaling["good"]

    def losses(params):
        outputs = net(cast(params, jnp.float16), cast(x, jnp.float16))
        value = loss(cast(outputs, jnp.float32), y)
        return jnp.stack([scale * value, value])

    both, backward = jax.vjp(losses, params)
    (grads,) = backward(jnp.array([1.0, 0.0]))
    grads = tree_util.tree_map(lambda g: g * (1 / scale), grads)
    bad = ~jnp.isfinite(ravel_pytree(grads)[0]).all()
    updates, new_state = tx.update(grads, state, params)
    new = Step(optax.apply_updates(params, updates), new_state)
    kept = tree_util.tree_map(lambda n, o: jax.lax.select(bad, o, n), new, Step(params, state))
    count = jnp.where(bad, 0, (good + 1) % every)
    grown = ~bad & (count == 0)
    scale = scale * jnp.where(bad, 0.5, jnp.where(grown, 2.0, 1.0))
    return kept.params, kept.state, {"scale": scale, "good": count}, both[1]
