import jax
import jax.numpy as jnp
import optax


def cast(tree, dtype):
    """Floats to `dtype`."""
    mask = jax.tree.map(lambda a: jnp.issubdtype(a.dtype, jnp.floating), tree)
    return jax.tree.map(lambda a, floating: a.astype(dtype) if floating else a, tree, mask)


def mixed(f, dtype):
    @jax.jit
    def inner(*args):
        return f(*args)

    def outer(*args):
        return cast(inner(*cast(list(args), dtype)), jnp.float32)

    return outer


def unscaled_gradients(net, loss, scale, params, x, y):
    run = mixed(net, jnp.float16)
    value = loss(run(params, x), y)
    grads = jax.grad(lambda p: loss(run(p, x), y) * scale)(params)
    return value, jax.tree.map(lambda g: jnp.true_divide(g, scale), grads)


def next_scaling(scaling, finite, every):
    good = scaling["good"] + 1
    grown = {
        "scale": jnp.where(good == every, scaling["scale"] * 2, scaling["scale"]),
        "good": jnp.where(good == every, 0, good),
    }
    shrunk = {"scale": scaling["scale"] / 2, "good": jnp.int32(0)}
    return jax.tree.map(lambda a, b: jnp.where(finite, a, b), grown, shrunk)


def train_step(net, loss, tx, every, params, state, scaling, x, y):
    value, grads = unscaled_gradients(net, loss, scaling["scale"], params, x, y)
    finite = True
    for g in jax.tree.leaves(grads):
        finite &= jnp.all(jnp.abs(g) < jnp.inf)
    updates, tried = tx.update(grads, state, params)
    tried = optax.apply_updates(params, updates), tried
    params, state = jax.tree.map(lambda a, b: jnp.where(finite, a, b), tried, (params, state))
    return params, state, next_scaling(scaling, finite, every), value
