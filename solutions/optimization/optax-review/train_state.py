from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import struct

which_norm = {"b": [-2], "a": [-1.5]}
third_update = -2
moves = [0, 0, -3, -3]


def per_array(b):
    trace = optax.trace(decay=b)

    def init(params):
        return trace.init(params)

    def update(grads, state, params=None):
        scaled = jax.tree_util.tree_map(lambda g: (1 - b) * g, grads)
        momentum, state = trace.update(scaled, state)
        return jax.tree_util.tree_map(lambda m: m / (jnp.linalg.norm(m.ravel()) + 1e-3), momentum), state

    return optax.GradientTransformation(init, update)


def make_tx(schedule, limit):
    def decays(path, p):
        return "matrix" if p.ndim > 1 else "other"

    rates = {"matrix": 0.3, "other": 0.0}
    parts = {k: optax.adamw(schedule, weight_decay=d) for k, d in rates.items()}
    by_kind = optax.partition(parts, lambda ps: jax.tree_util.tree_map_with_path(decays, ps))
    return optax.chain(optax.clip_by_global_norm(limit), by_kind)


@struct.dataclass
class State:
    params: Any
    average: Any
    opt_state: Any
    tx: Any = struct.field(pytree_node=False)
    loss: Any = struct.field(pytree_node=False)

    def step(self, batch):
        value, grads = jax.value_and_grad(self.loss)(self.params, batch)
        updates, opt_state = self.tx.update(grads, self.opt_state, self.params)
        params = optax.apply_updates(self.params, updates)
        average = jax.tree.map(lambda a, p: 0.9 * a + 0.1 * p, self.average, params)
        return self.replace(params=params, average=average, opt_state=opt_state), value


def fit(loss, tx, params, batches):
    state = State(params, params, tx.init(params), tx, loss)
    state, values = jax.lax.scan(lambda state, batch: state.step(batch), state, batches)
    return state.params, state.average, values
