import jax
import jax.numpy as jnp
import optax

which_norm = {"a": [-1.5], "b": [-2.0]}
third_update = -2.0
moves = [0.0, 0.0, -3.0, -3.0]


def per_array(b):
    def update(updates, state, params=None, **extra):
        new = jax.tree.map(lambda m, g: b * m + (1 - b) * g, state["m"], updates)

        def direction(m):
            return m / (jnp.sqrt(jnp.vdot(m, m)) + 0.001)

        return jax.tree.map(direction, new), {"m": new}

    return optax.GradientTransformationExtraArgs(
        lambda params: {"m": jax.tree.map(lambda p: 0 * p, params)}, update
    )


def make_tx(schedule, limit):
    def is_matrix(params):
        return jax.tree.map(lambda p: jnp.ndim(p) >= 2, params)

    return optax.chain(
        optax.clip_by_global_norm(limit),
        optax.adamw(learning_rate=schedule, weight_decay=0.3, mask=is_matrix),
    )


def fit(loss, tx, params, batches):
    def step(i, carry):
        params, average, state, values = carry
        batch = jax.tree.map(lambda a: jax.lax.dynamic_index_in_dim(a, i, 0, False), batches)
        values = values.at[i].set(loss(params, batch))
        updates, state = tx.update(jax.grad(loss)(params, batch), state, params)
        params = optax.apply_updates(params, updates)
        average = jax.tree.map(lambda a, p: a + 0.1 * (p - a), average, params)
        return params, average, state, values

    steps = jax.tree.leaves(batches)[0].shape[0]
    carry = params, params, tx.init(params), jnp.zeros(steps)
    params, average, _, values = jax.lax.fori_loop(0, steps, step, carry)
    return params, average, values
