import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

on_each = [[0.1, 0.2], [0.3, 0.4]]
block = (4, 6)
rate_of_descent = -0.4


def sync_norm(x, axis_name):
    def all_mean(a):
        return jax.lax.pmean(jnp.mean(a, axis=0, keepdims=True), axis_name)

    mean = all_mean(x)
    return (x - mean) * jax.lax.rsqrt(all_mean((x - mean) ** 2) + 1e-5)


def make_step(loss_fn):
    mesh = jax.sharding.Mesh(jax.devices(), "rows")
    rows = P("rows")

    def gradients(params, x, y, mask):
        def total(params):
            losses = loss_fn(params, x, y)
            return losses @ mask.astype(losses.dtype), losses

        (_, losses), grads = jax.value_and_grad(total, has_aux=True)(params)
        return jax.lax.psum((grads, mask.sum()), "rows"), losses

    # Without these checks, gradients are those of each block, as under pmap.
    mapped = jax.shard_map(
        gradients,
        mesh=mesh,
        in_specs=(P(), rows, rows, rows),
        out_specs=(P(), rows),
        check_vma=False,
    )

    @jax.jit
    def compiled(params, x, y, mask, lr):
        (grads, count), losses = mapped(params, x, y, mask)
        return jax.tree.map(lambda p, g: p - (lr / count) * g, params, grads), losses

    def step(params, x, y, mask, lr):
        params = jax.device_put(params, NamedSharding(mesh, P()))
        return compiled(params, x, y, mask, lr)

    return step
