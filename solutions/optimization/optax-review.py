"""What an optimizer remembers is in its state, and the state goes from step to step."""

import jax
import jax.numpy as jnp
import optax

which_norm = {"a": [-1.5], "b": [-2.0]}
third_update = -2.0
moves = [0.0, 0.0, -3.0, -3.0]


def per_array(b):
    def direction(m):
        return m / (jnp.linalg.norm(m) + 0.001)

    def init(params):
        return jax.tree.map(jnp.zeros_like, params)

    def update(grads, state, params=None):
        momentum = jax.tree.map(lambda m, g: b * m + (1 - b) * g, state, grads)
        leaves, structure = jax.tree.flatten(momentum)
        return jax.tree.unflatten(structure, [direction(m) for m in leaves]), momentum

    return optax.GradientTransformation(init, update)


def make_tx(schedule, limit):
    def matrices(params):
        return jax.tree.map(lambda p: p.ndim > 1, params)

    adamw = optax.adamw(schedule, weight_decay=0.3, mask=matrices)
    return optax.chain(optax.clip_by_global_norm(limit), adamw)


def fit(loss, tx, params, batches):
    def step(carry, batch):
        params, average, state = carry
        value, grads = jax.value_and_grad(loss)(params, batch)
        updates, state = tx.update(grads, state, params)
        new = optax.apply_updates(params, updates)
        average = jax.tree.map(lambda a, p: 0.9 * a + 0.1 * p, average, new)
        return (new, average, state), value

    start = params, params, tx.init(params)
    (params, average, _), values = jax.lax.scan(step, start, batches)
    return params, average, values
