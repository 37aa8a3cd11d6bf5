"""Every device gathers all rows, computes the whole result, and keeps its part."""

from functools import partial

import jax
import jax.numpy as jnp

gathered_shape = [4, 4, 3, 2]

pmap = partial(jax.pmap, axis_name="data")


def shard(x):
    devices = jax.device_count()
    return jnp.reshape(x, (devices, len(x) // devices, *x.shape[1:]))


def whole(x):
    return jax.lax.all_gather(x, "data", axis=0, tiled=True)


def mine(result, n):
    return jax.lax.dynamic_slice_in_dim(result, jax.lax.axis_index("data") * n, n)


@pmap
def global_mean(x, mask):
    return whole(x).mean(0, where=whole(mask)[:, None])


@pmap
def global_softmax(x):
    return mine(jax.nn.softmax(whole(x)), len(x))


@pmap
def differences(x):
    rows = whole(x)
    return mine(jnp.diff(rows, axis=0, prepend=jnp.zeros_like(rows[:1])), len(x))


@pmap
def contrastive_loss(a, b):
    scores = whole(a) @ whole(b).T
    return -jnp.diagonal(jax.nn.log_softmax(scores, axis=-1)).mean()
