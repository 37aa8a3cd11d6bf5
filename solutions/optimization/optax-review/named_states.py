from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

which_norm = {"a": [-1.5], "b": [-2]}
third_update = -2
moves = [0, 0, -3, -3]


class PerArrayState(NamedTuple):
    momentum: Any


def per_array(b):
    def init_fn(params):
        return PerArrayState(optax.tree.zeros_like(params))

    def update_fn(updates, state, params=None):
        del params
        momentum = optax.tree.update_moment(updates, state.momentum, b, 1)
        updates = jax.tree.map(lambda m: m / (jnp.sqrt(jnp.sum(m**2)) + 1e-3), momentum)
        return updates, PerArrayState(momentum)

    return optax.GradientTransformation(init_fn, update_fn)


def make_tx(schedule, limit):
    def labels(params):
        return jax.tree.map(lambda p: "decay" if jnp.ndim(p) >= 2 else "plain", params)

    groups = {
        "decay": optax.adamw(schedule, weight_decay=0.3),
        "plain": optax.adam(schedule),
    }
    return optax.chain(optax.clip_by_global_norm(limit), optax.multi_transform(groups, labels))


class TrainState(NamedTuple):
    params: Any
    average: Any
    opt_state: Any


def fit(loss, tx, params, batches):
    @jax.jit
    def train_step(state, batch):
        value, grads = jax.value_and_grad(loss)(state.params, batch)
        updates, opt_state = tx.update(grads, state.opt_state, state.params)
        params = optax.apply_updates(state.params, updates)
        average = optax.incremental_update(params, state.average, 0.1)
        return TrainState(params, average, opt_state), value

    state, values = jax.lax.scan(train_step, TrainState(params, params, tx.init(params)), batches)
    return state.params, state.average, values
