import functools

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

on_each = [[0.1, 0.2], [0.3, 0.4]]
block = (4, 6)
rate_of_descent = -0.4


def sync_norm(x, axis_name):
    reduce = functools.partial(jax.lax.psum, axis_name=axis_name)
    n = reduce(jnp.ones(())) * len(x)
    mean = reduce(x.sum(0)) / n
    square = reduce(((x - mean) ** 2).sum(0)) / n
    return (x - mean) / (square + 1e-5) ** 0.5


def make_step(loss_fn):
    devices = jax.devices()
    mesh = Mesh(devices, ("d",))

    def on_device(params, x, y, mask, lr):
        def total(params):
            losses = loss_fn(params, x, y)
            return (losses * mask).sum(), losses

        grads, losses = jax.grad(total, has_aux=True)(params)
        count = jax.lax.psum(mask.sum(), "d")
        grads = jax.lax.psum(grads, "d")
        return jax.tree.map(lambda p, g: p - lr * g / count, params, grads), losses

    mapped = jax.pmap(on_device, axis_name="d", in_axes=(None, 0, 0, 0, None))

    def step(params, x, y, mask, lr):
        x, y, mask = (a.reshape(len(devices), -1, *a.shape[1:]) for a in (x, y, mask))
        stacked, losses = mapped(params, x, y, mask, lr)
        params = jax.tree.map(lambda p: p[0], stacked)
        params = jax.device_put(params, NamedSharding(mesh, P()))
        return params, jax.device_put(losses.reshape(-1), NamedSharding(mesh, P("d")))

    return step
