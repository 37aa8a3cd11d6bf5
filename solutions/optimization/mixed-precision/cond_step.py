import functools

import jax
import jax.numpy as jnp
import optax


def is_float(a):
    return jnp.issubdtype(jnp.result_type(a), jnp.floating)


def cast(tree, dtype):
    leaves, structure = jax.tree.flatten(tree)
    leaves = [jnp.asarray(a, dtype) if is_float(a) else a for a in leaves]
    return jax.tree.unflatten(structure, leaves)


def mixed(f, dtype):
    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        args, kwargs = cast((args, kwargs), dtype)
        return cast(f(*args, **kwargs), "float32")

    return wrapped


def all_finite(tree):
    return functools.reduce(
        jnp.logical_and, [jnp.all(jnp.isfinite(a)) for a in jax.tree.leaves(tree)]
    )


def train_step(net, loss, tx, every, params, state, scaling, x, y):
    half_net = mixed(net, jnp.float16)

    def forward(params):
        value = loss(half_net(params, x), y)
        return value * scaling["scale"], value

    (_, value), grads = jax.value_and_grad(forward, has_aux=True)(params)
    grads = optax.tree.scale(1 / scaling["scale"], grads)

    def step(params, state, scaling):
        updates, state = tx.update(grads, state, params)
        full = scaling["good"] + 1 == every
        new = {
            "scale": scaling["scale"] * jnp.where(full, 2.0, 1.0),
            "good": jnp.where(full, 0, scaling["good"] + 1),
        }
        return optax.apply_updates(params, updates), state, new

    def skip(params, state, scaling):
        new = {"scale": scaling["scale"] * 0.5, "good": jnp.zeros_like(scaling["good"])}
        return params, state, new

    result = jax.lax.cond(all_finite(grads), step, skip, params, state, scaling)
    return *result, value
