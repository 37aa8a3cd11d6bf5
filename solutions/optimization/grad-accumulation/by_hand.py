from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree


def accumulate(loss_fn, params, batch):
    flat, unravel = ravel_pytree(params)

    def with_both(flat, part):
        total, count = loss_fn(unravel(flat), part)
        return total, (total, count)

    def add(carry, part):
        grads, (total, count) = jax.grad(with_both, has_aux=True)(flat, part)
        return carry + grads, (total, count)

    grads, (totals, counts) = jax.lax.scan(add, jnp.zeros_like(flat), batch)
    n = jnp.sum(counts)
    return jnp.sum(totals) / n, unravel(grads / n)


class Collected(NamedTuple):
    seen: jax.Array
    sums: Any
    inner: Any


def make_tx(tx, k):
    def init(params):
        return Collected(
            jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, params), tx.init(params)
        )

    def update(grads, state, params=None):
        sums = jax.tree.map(jnp.add, state.sums, grads)
        zeros = jax.tree.map(jnp.zeros_like, sums)

        def step(_):
            updates, inner = tx.update(jax.tree.map(lambda s: s / k, sums), state.inner, params)
            return updates, Collected(jnp.zeros((), jnp.int32), zeros, inner)

        def wait(_):
            return zeros, Collected(state.seen + 1, sums, state.inner)

        return jax.lax.cond(state.seen + 1 == k, step, wait, None)

    return optax.GradientTransformation(init, update)


def train(loss_fn, tx, params, batches):
    def body(carry, batch):
        params, state = carry
        loss, grads = accumulate(loss_fn, params, batch)
        updates, state = tx.update(grads, state, params)
        params = jax.tree.map(lambda p, u: p + u, params, updates)
        return (params, state), loss

    carry, losses = jax.lax.scan(body, (params, tx.init(params)), batches)
    return carry[0], losses
