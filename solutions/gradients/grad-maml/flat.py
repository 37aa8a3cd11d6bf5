"""All parameters in one vector."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def adapt(loss, params, batches, lr):
    vector, unravel = ravel_pytree(params)
    slope = jax.grad(lambda v, batch: loss(unravel(v), batch))

    def step(v, batch):
        v = v - lr * slope(v, batch)
        return v, v

    _, path = jax.lax.scan(step, vector, batches)
    return unravel(path[-1])


def meta_loss(loss, params, lr, tasks):
    adapted = jax.vmap(lambda support: adapt(loss, params, support, lr))(tasks["support"])
    losses = jax.vmap(loss)(adapted, tasks["query"])
    return losses.sum() / losses.size


def meta_grads(loss, params, lr, tasks):
    gradient = jax.grad(meta_loss, argnums=[1, 2])
    return meta_loss(loss, params, lr, tasks), gradient(loss, params, lr, tasks)
