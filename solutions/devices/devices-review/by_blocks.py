from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

on_each = ((0.1, 0.2), (0.3, 0.4))
block = [4, 6]
rate_of_descent = -0.4


def sync_norm(x, axis_name):
    count = lax.psum(x.shape[0], axis_name)
    mean = lax.psum(jnp.sum(x, axis=0), axis_name) / count
    variance = lax.psum(jnp.sum(jnp.square(x - mean), axis=0), axis_name) / count
    return (x - mean) * lax.rsqrt(variance + 1e-5)


def make_step(loss_fn):
    mesh = Mesh(np.array(jax.devices()), ("d",))

    @jax.jit
    @partial(
        jax.shard_map,
        mesh=mesh,
        in_specs=(P(), P("d"), P("d"), P("d"), P()),
        out_specs=(P(), P("d")),
    )
    def step(params, x, y, mask, lr):
        varying = lax.pcast(params, "d", to="varying")

        def own(params):
            losses = loss_fn(params, x, y)
            return jnp.sum(jnp.where(mask, losses, 0)), losses

        (_, losses), grads = jax.value_and_grad(own, has_aux=True)(varying)
        count = lax.psum(mask.sum(), "d")
        grads = jax.tree.map(lambda g: lax.psum(g, "d") / count, grads)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), losses

    return step
