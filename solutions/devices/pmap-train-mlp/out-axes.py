"""`in_axes` and `out_axes` of `pmap`: one loss is returned; sums divided by the global count."""

import itertools

import jax
import jax.numpy as jnp
import optax
from jax import lax

SIZES = (64, 128, 64, 10)
BATCH = 64
tx = optax.sgd(0.05, momentum=0.9)


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def init_params(key):
    params = []
    for i, (fan_in, fan_out) in enumerate(itertools.pairwise(SIZES)):
        w_key = jax.random.fold_in(key, i)
        std = (2 / fan_in) ** 0.5
        params.append(
            {"w": std * jax.random.normal(w_key, (fan_in, fan_out)), "b": jnp.zeros(fan_out)}
        )
    return params


def replicate(tree):
    devices = jnp.arange(jax.local_device_count())
    return jax.pmap(lambda _, tree: tree, in_axes=(0, None))(devices, tree)


def unreplicate(tree):
    return jax.device_get(jax.tree.map(lambda leaf: leaf[0], tree))


def shard(batch):
    return jnp.stack(jnp.split(batch, jax.local_device_count()))


def step(params, opt_state, x, y):
    """Sum the examples on every device and divide by the global number of examples."""

    def summed_loss(params):
        log_p = jax.nn.log_softmax(forward(params, x), axis=-1)
        return -jnp.take_along_axis(log_p, y[:, None], axis=1).sum()

    total = lax.psum(len(y), axis_name="data")
    loss, grads = jax.value_and_grad(summed_loss)(params)
    grads = jax.tree.map(lambda g: lax.psum(g, axis_name="data") / total, grads)
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, lax.psum(loss, axis_name="data") / total


train_step = jax.pmap(step, axis_name="data", in_axes=(0, 0, 0, 0), out_axes=(0, 0, None))


def train(params, x, y, epochs):
    params, opt_state = replicate(params), jax.pmap(tx.init)(replicate(params))
    count = len(x) // BATCH
    batches = [
        (shard(bx), shard(by))
        for bx, by in zip(
            jnp.split(x[: count * BATCH], count), jnp.split(y[: count * BATCH], count), strict=True
        )
    ]
    for _ in range(epochs):
        for bx, by in batches:
            params, opt_state, _ = train_step(params, opt_state, bx, by)
    return unreplicate(params)
