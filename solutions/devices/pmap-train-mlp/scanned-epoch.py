"""One `pmap` for a whole epoch: a `scan` over its batches on every device."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax

SIZES = (64, 128, 64, 10)
BATCH = 64
tx = optax.sgd(0.05, momentum=0.9)

Params = list[dict[str, jax.Array]]


def forward(params: Params, x: jax.Array) -> jax.Array:
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def init_params(key: jax.Array) -> Params:
    he = jax.nn.initializers.variance_scaling(2.0, "fan_in", "normal")
    keys = jax.random.split(key, 3)
    return [
        {"w": he(k, (i, o), jnp.float32), "b": jnp.zeros((o,), jnp.float32)}
        for k, i, o in zip(keys, SIZES[:-1], SIZES[1:])
    ]


def replicate(tree: Any) -> Any:
    n = jax.local_device_count()
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (n, *leaf.shape)), tree)


def unreplicate(tree: Any) -> Any:
    return jax.device_get(jax.tree.map(lambda leaf: leaf[0], tree))


def shard(batch: jax.Array) -> jax.Array:
    n = jax.local_device_count()
    return batch.reshape(n, batch.shape[0] // n, *batch.shape[1:])


def local_step(params, opt_state, x, y):
    def loss_fn(params):
        losses = optax.losses.softmax_cross_entropy_with_integer_labels(forward(params, x), y)
        return jax.lax.pmean(losses.mean(), axis_name="data")

    loss, grads = jax.value_and_grad(loss_fn)(params)
    grads = jax.lax.pmean(grads, axis_name="data")
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


train_step = jax.pmap(local_step, axis_name="data")


@partial(jax.pmap, axis_name="data", in_axes=(0, 0, 1, 1))
def epoch(params, opt_state, xs, ys):
    def body(state, batch):
        params, opt_state, loss = local_step(*state, *batch)
        return (params, opt_state), loss

    (params, opt_state), _ = jax.lax.scan(body, (params, opt_state), (xs, ys))
    return params, opt_state


def train(params: Params, x: jax.Array, y: jax.Array, epochs: int) -> Params:
    steps = len(x) // BATCH
    xs = jnp.stack([shard(x[s * BATCH : (s + 1) * BATCH]) for s in range(steps)])
    ys = jnp.stack([shard(y[s * BATCH : (s + 1) * BATCH]) for s in range(steps)])
    opt_state = replicate(tx.init(params))
    params = replicate(params)
    for _ in range(epochs):
        params, opt_state = epoch(params, opt_state, xs, ys)
    return unreplicate(params)
