"""A label for each part of the tree says which transformation moves it; frozen parts get zeros."""

import jax
import jax.numpy as jnp
import optax


def freeze(tx, frozen):
    def labels(params):
        return {name: "still" if name in frozen else "moving" for name in params}

    return optax.partition({"moving": tx, "still": optax.set_to_zero()}, labels)


def make_tx(lr, head_lr, decay):
    def decayed(params):
        return jax.tree.map(lambda p: p.ndim > 1, params)

    def labels(params):
        return {name: "head" if name == "head" else "body" for name in params}

    head = optax.adamw(head_lr, weight_decay=decay, mask=decayed)
    body = optax.adamw(lr, weight_decay=decay, mask=decayed)
    return optax.partition({"head": head, "body": body}, labels)


def train(tx, loss, params, xs, ys):
    state, values = tx.init(params), []
    for x, y in zip(xs, ys):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, state = tx.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        values.append(value)
    return params, values


def finetune(tx, loss, params, frozen, xs, ys, unfreeze):
    first = freeze(tx, frozen)
    params, before = train(first, loss, params, xs[:unfreeze], ys[:unfreeze])
    params, after = train(tx, loss, params, xs[unfreeze:], ys[unfreeze:])
    return params, jnp.stack(before + after)
