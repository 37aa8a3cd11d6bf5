import jax
import jax.numpy as jnp
import optax
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

on_each = [[0.1, 0.2], [0.3, 0.4]]
block = (4, 6)
rate_of_descent = -0.4


def sync_norm(x, axis_name):
    rows = jax.lax.all_gather(x, axis_name, tiled=True)
    return (x - rows.mean(0)) / jnp.sqrt(rows.var(0) + 1e-5)


class Step:
    def __init__(self, loss_fn):
        self.loss_fn = loss_fn
        self.mesh = jax.make_mesh((len(jax.devices()),), ("b",), axis_types=(AxisType.Auto,))
        self.compiled = jax.jit(self.step)

    def place(self, tree, spec):
        return jax.device_put(tree, NamedSharding(self.mesh, spec))

    def constrained(self, tree, spec):
        return jax.lax.with_sharding_constraint(tree, NamedSharding(self.mesh, spec))

    def step(self, params, x, y, mask, lr):
        weights = mask / jnp.sum(mask)
        losses, backward = jax.vjp(lambda p: self.loss_fn(p, x, y), params)
        (grads,) = backward(weights)
        params = optax.apply_updates(params, jax.tree.map(lambda g: -lr * g, grads))
        return self.constrained(params, P()), self.constrained(losses, P("b"))

    def __call__(self, params, x, y, mask, lr):
        x, y, mask = self.place((x, y, mask), P("b"))
        return self.compiled(self.place(params, P()), x, y, mask, lr)


make_step = Step
