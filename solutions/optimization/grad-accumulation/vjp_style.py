from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


@partial(jax.jit, static_argnums=0)
def accumulate(loss_fn, params, batch):
    def add(carry, part):
        total, backward, count = jax.vjp(lambda p: loss_fn(p, part), params, has_aux=True)
        (grads,) = backward(jnp.ones_like(total))
        carry = (
            carry[0] + total,
            carry[1] + count,
            jax.tree.map(lambda a, b: a + b, carry[2], grads),
        )
        return carry, total

    zeros = optax.tree.zeros_like(params)
    carry, _ = jax.lax.scan(add, (jnp.float32(0), jnp.float32(0), zeros), batch)
    total, count, grads = carry
    return total / count, optax.tree.scale(1 / count, grads)


def make_tx(tx, k):
    if k == 1:
        return tx
    return optax.MultiSteps(tx, lambda step: k)


def train(loss_fn, tx, params, batches):
    state = TrainState.create(apply_fn=loss_fn, params=params, tx=tx)

    def step(state, batch):
        loss, grads = accumulate(loss_fn, state.params, batch)
        return state.apply_gradients(grads=grads), loss

    state, losses = jax.lax.scan(step, state, batches)
    return state.params, losses
