"""The successor of `pmap`: `jit` of `shard_map` over a mesh, with arrays (devices, …)."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

SIZES = (64, 128, 64, 10)
BATCH = 64
tx = optax.sgd(0.05, momentum=0.9)

mesh = Mesh(np.array(jax.local_devices()), ("data",))
by_device = NamedSharding(mesh, P("data"))


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def init_params(key):
    keys = jax.random.split(key, len(SIZES) - 1)
    return [
        {"w": jax.random.normal(k, (i, o)) * jnp.sqrt(2 / i), "b": jnp.zeros(o)}
        for k, i, o in zip(keys, SIZES[:-1], SIZES[1:])
    ]


def replicate(tree):
    stacked = jax.tree.map(lambda leaf: jnp.stack([leaf] * mesh.size), tree)
    return jax.device_put(stacked, by_device)


def unreplicate(tree):
    return jax.tree.map(lambda leaf: leaf.addressable_shards[0].data[0], tree)


def shard(batch):
    share = len(batch) // jax.local_device_count()
    return jax.device_put(batch.reshape(-1, share, *batch.shape[1:]), by_device)


@jax.jit
@jax.shard_map(mesh=mesh, in_specs=P("data"), out_specs=(P("data"), P("data"), P()))
def train_step(params, opt_state, x, y):
    # every device sees a leading axis of size 1
    params, opt_state, x, y = jax.tree.map(lambda leaf: leaf[0], (params, opt_state, x, y))

    def loss_fn(params):
        scores = forward(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    loss, grads = jax.lax.pmean((loss, grads), "data")
    updates, opt_state = tx.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    params, opt_state = jax.tree.map(lambda leaf: leaf[None], (params, opt_state))
    return params, opt_state, loss


def train(params, x, y, epochs):
    state = replicate((params, tx.init(params)))
    for _ in range(epochs):
        for start in range(0, len(x) - BATCH + 1, BATCH):
            batch = shard(x[start : start + BATCH]), shard(y[start : start + BATCH])
            *state, _ = train_step(*state, *batch)
    return unreplicate(state[0])
