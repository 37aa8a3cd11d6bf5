"""Sums and counts are carried through the parts, and divided once."""

import jax
import jax.numpy as jnp
import optax


def accumulate(loss_fn, params, batch):
    def add(sums, part):
        (total, count), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, part)
        return jax.tree.map(jnp.add, sums, (total, count, grads)), None

    start = jnp.zeros(()), jnp.zeros(()), jax.tree.map(jnp.zeros_like, params)
    (total, count, grads), _ = jax.lax.scan(add, start, batch)
    return total / count, jax.tree.map(lambda g: g / count, grads)


def make_tx(tx, k):
    return optax.MultiSteps(tx, every_k_schedule=k).gradient_transformation()


def train(loss_fn, tx, params, batches):
    def step(carry, batch):
        params, state = carry
        value, grads = accumulate(loss_fn, params, batch)
        updates, state = tx.update(grads, state, params)
        return (optax.apply_updates(params, updates), state), value

    (params, _), values = jax.lax.scan(step, (params, tx.init(params)), batches)
    return params, values
