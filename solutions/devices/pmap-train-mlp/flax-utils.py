"""Flax's `replicate`, `unreplicate` and `shard`; old buffers donated."""

import functools
import itertools

import jax
import jax.numpy as jnp
import optax
from flax import jax_utils
from flax.training import common_utils

SIZES = (64, 128, 64, 10)
BATCH = 64
tx = optax.sgd(0.05, momentum=0.9)


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def init_params(key):
    params = []
    for n_in, n_out in itertools.pairwise(SIZES):
        key, subkey = jax.random.split(key)
        w = jnp.sqrt(2.0 / n_in) * jax.random.normal(subkey, (n_in, n_out))
        params.append({"w": w, "b": jnp.zeros((n_out,))})
    return params


replicate = jax_utils.replicate
unreplicate = jax_utils.unreplicate
shard = common_utils.shard


def cross_entropy(params, x, y):
    log_p = jax.nn.log_softmax(forward(params, x))
    return -jnp.mean(jnp.sum(common_utils.onehot(y, 10) * log_p, axis=-1))


@functools.partial(jax.pmap, axis_name="data", donate_argnums=(0, 1))
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(cross_entropy)(params, x, y)
    grads = jax.lax.pmean(grads, "data")
    updates, opt_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, opt_state, jax.lax.pmean(loss, "data")


def train(params, x, y, epochs):
    opt_state = replicate(tx.init(params))
    params = replicate(params)
    steps = x.shape[0] // BATCH
    for _ in range(epochs):
        for step in range(steps):
            rows = slice(step * BATCH, (step + 1) * BATCH)
            params, opt_state, loss = train_step(params, opt_state, shard(x[rows]), shard(y[rows]))
            loss.block_until_ready()
    return unreplicate(params)
