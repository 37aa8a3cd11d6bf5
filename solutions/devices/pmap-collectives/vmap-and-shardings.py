"""One device's code under `vmap`, spread over the devices by `jit` with shardings."""

from functools import partial

import jax
import jax.numpy as jnp

gathered_shape = (4, 4, 3, 2)

mesh = jax.sharding.Mesh(jax.local_devices(), ("devices",))
by_device = jax.NamedSharding(mesh, jax.P("devices"))


def on_devices(f):
    mapped = jax.vmap(f, axis_name="data")
    return jax.jit(mapped, in_shardings=by_device, out_shardings=by_device)


def shard(x):
    return x.reshape(mesh.size, x.shape[0] // mesh.size, *x.shape[1:])


total = partial(jax.lax.psum, axis_name="data")


@on_devices
def global_mean(x, mask):
    x = x * mask[:, None]
    return total(x.sum(axis=0)) / total(jnp.count_nonzero(mask))


@on_devices
def global_softmax(x):
    z = x - jax.lax.pmax(jnp.max(x), "data")
    return jnp.exp(z) / total(jnp.exp(z).sum())


@on_devices
def differences(x):
    last = jax.lax.pshuffle(x[-1], "data", [(i - 1) % mesh.size for i in range(mesh.size)])
    last = jax.lax.select(jax.lax.axis_index("data") > 0, last, jnp.zeros_like(last))
    return jnp.diff(x, axis=0, prepend=last[None])


@on_devices
def contrastive_loss(a, b):
    n, rank = len(a), jax.lax.axis_index("data")
    scores = jnp.inner(a, jax.lax.all_gather(b, "data", tiled=True))
    block = jax.lax.dynamic_slice(scores, (0, rank * n), (n, n))
    losses = jax.nn.logsumexp(scores, axis=1) - jnp.diag(block)
    return jax.lax.pmean(losses.mean(), "data")
