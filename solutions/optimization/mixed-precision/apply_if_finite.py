import jax
import jax.numpy as jnp
import optax


def cast(tree, dtype):
    return jax.tree_util.tree_map(
        lambda a: a.astype(dtype) if a.dtype in (jnp.float32, jnp.float16, jnp.bfloat16) else a,
        tree,
    )


class mixed:  # noqa: N801
    def __init__(self, f, dtype):
        self.f, self.dtype = f, dtype

    def __call__(self, *args):
        args = [cast(arg, self.dtype) for arg in args]
        return cast(self.f(*args), jnp.float32)


def train_step(net, loss, tx, every, params, state, scaling, x, y):
    scale = scaling["scale"]
    outputs, back = jax.vjp(lambda p: mixed(net, jnp.float16)(p, x), params)
    value, slope = jax.value_and_grad(loss)(outputs, y)
    (grads,) = back(slope * scale)
    grads = jax.tree.map(lambda g: g / scale, grads)

    finite = jnp.isfinite(optax.global_norm(grads))
    safe = jax.tree.map(lambda g: jnp.where(finite, g, 0.0), grads)
    updates, stepped = tx.update(safe, state, params)
    updates = jax.tree.map(lambda u: u * finite, updates)
    state = optax.tree.where(finite, stepped, state)

    good = (scaling["good"] + 1) * finite
    full = good == every
    factor = jnp.select([~finite, full], [0.5, 2.0], 1.0)
    good = jnp.where(full, 0, good).astype(jnp.int32)
    return (
        optax.apply_updates(params, updates),
        state,
        {"scale": scale * factor, "good": good},
        value,
    )
