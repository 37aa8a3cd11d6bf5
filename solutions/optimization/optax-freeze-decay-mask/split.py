"""The frozen parts are taken out of the tree, so the optimizer never sees them."""

import jax
import jax.numpy as jnp
import optax


def split(tree, names):
    return (
        {name: part for name, part in tree.items() if name not in names},
        {name: part for name, part in tree.items() if name in names},
    )


def freeze(tx, frozen):
    def init(params):
        return tx.init(split(params, frozen)[0])

    def update(grads, state, params=None):
        moving, still = split(grads, frozen)
        own = None if params is None else split(params, frozen)[0]
        moved, state = tx.update(moving, state, own)
        return {**moved, **jax.tree.map(jnp.zeros_like, still)}, state

    return optax.GradientTransformation(init, update)


def make_tx(lr, head_lr, decay):
    def labels(params):
        leaves, tree = jax.tree.flatten_with_path(params)
        found = [
            ("head" if path[0].key == "head" else "body")
            + (" weight" if leaf.ndim > 1 else " bias")
            for path, leaf in leaves
        ]
        return jax.tree.unflatten(tree, found)

    txs = {
        f"{part} {kind}": optax.adamw(rate, weight_decay=amount)
        for part, rate in (("head", head_lr), ("body", lr))
        for kind, amount in (("weight", decay), ("bias", 0.0))
    }
    return optax.multi_transform(txs, labels)


def finetune(tx, loss, params, frozen, xs, ys, unfreeze):
    def partial(moving, still, x, y):
        return loss({**moving, **still}, x, y)

    moving, still = split(params, frozen)
    state, values = tx.init(moving), []
    for step, (x, y) in enumerate(zip(xs, ys)):
        if step == unfreeze:
            moving, still = {**moving, **still}, {}
            state = tx.init(moving)
        value, grads = jax.value_and_grad(partial)(moving, still, x, y)
        updates, state = tx.update(grads, state, moving)
        moving = optax.apply_updates(moving, updates)
        values.append(value)
    return {**moving, **still}, jnp.stack(values)
