import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

which_norm = {"b": [-2.0], "a": [-1.5]}
third_update = -2.0
moves = [0.0, 0.0, -3.0, -3.0]


def per_array(b):
    def unit(updates, params=None):
        return jax.tree.map(lambda m: m / (optax.tree.norm(m) + 0.001), updates)

    return optax.chain(optax.ema(b, debias=False), optax.stateless(unit))


def make_tx(schedule, limit):
    return optax.chain(
        optax.clip_by_global_norm(limit),
        optax.scale_by_adam(),
        optax.masked(
            optax.add_decayed_weights(0.3),
            lambda params: jax.tree_util.tree_map(lambda p: len(p.shape) > 1, params),
        ),
        optax.scale_by_schedule(schedule),
        optax.scale(-1.0),
    )


def fit(loss, tx, params, batches):
    flat, unravel = ravel_pytree(params)
    steps = jax.tree.leaves(batches)[0].shape[0]

    def body(i, carry):
        flat, average, state, values = carry
        params = unravel(flat)
        batch = jax.tree.map(lambda a: a[i], batches)
        value, grads = jax.value_and_grad(loss)(params, batch)
        updates, state = tx.update(grads, state, params)
        flat = flat + ravel_pytree(updates)[0]
        return flat, average + 0.1 * (flat - average), state, values.at[i].set(value)

    start = (flat, flat, tx.init(params), jnp.zeros(steps))
    flat, average, _, values = jax.lax.fori_loop(0, steps, body, start)
    return unravel(flat), unravel(average), values
