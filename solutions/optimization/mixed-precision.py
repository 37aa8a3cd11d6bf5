"""A copy in half precision runs through the network; what adds up is float32."""

import jax
import jax.numpy as jnp
import optax


def cast(tree, dtype):
    def one(leaf):
        return leaf.astype(dtype) if jnp.issubdtype(leaf.dtype, jnp.floating) else leaf

    return jax.tree.map(one, tree)


def mixed(f, dtype):
    def half(*args):
        return cast(f(*cast(args, dtype)), jnp.float32)

    return half


def train_step(net, loss, tx, every, params, state, scaling, x, y):
    scale, good = scaling["scale"], scaling["good"]

    def scaled(params):
        value = loss(mixed(net, jnp.float16)(params, x), y)
        return scale * value, value

    grads, value = jax.grad(scaled, has_aux=True)(params)
    grads = jax.tree.map(lambda g: g / scale, grads)
    finite = jnp.array([jnp.isfinite(g).all() for g in jax.tree.leaves(grads)]).all()
    updates, new_state = tx.update(grads, state, params)
    new_params = optax.apply_updates(params, updates)
    params, state = jax.tree.map(
        lambda old, new: jnp.where(finite, new, old), (params, state), (new_params, new_state)
    )
    good = jnp.where(finite, good + 1, 0)
    scale = jnp.where(finite, jnp.where(good == every, 2 * scale, scale), scale / 2)
    return params, state, {"scale": scale, "good": jnp.where(good == every, 0, good)}, value
