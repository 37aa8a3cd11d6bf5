"""Labels for every leaf, and two compiled scans."""

import jax
import jax.numpy as jnp
import optax


def label_parts(choose):
    def labels(params):
        return {
            name: jax.tree.map(lambda leaf, name=name: choose(name, leaf), part)
            for name, part in params.items()
        }

    return labels


def freeze(tx, frozen):
    txs = {True: optax.set_to_zero(), False: tx}
    return optax.partition(txs, label_parts(lambda name, _: name in frozen))


def make_tx(lr, head_lr, decay):
    txs = {
        "head weights": optax.adamw(head_lr, weight_decay=decay),
        "head": optax.adam(head_lr),
        "body weights": optax.adamw(lr, weight_decay=decay),
        "body": optax.adam(lr),
    }

    def choose(name, leaf):
        kind = "head" if name == "head" else "body"
        return kind + " weights" if leaf.ndim > 1 else kind

    return optax.partition(txs, label_parts(choose))


def finetune(tx, loss, params, frozen, xs, ys, unfreeze):
    def run(tx, params, xs, ys):
        def step(carry, batch):
            params, state = carry
            value, grads = jax.value_and_grad(loss)(params, *batch)
            updates, state = tx.update(grads, state, params)
            return (optax.apply_updates(params, updates), state), value

        (params, _), values = jax.lax.scan(step, (params, tx.init(params)), (xs, ys))
        return params, values

    params, before = run(freeze(tx, frozen), params, xs[:unfreeze], ys[:unfreeze])
    params, after = run(tx, params, xs[unfreeze:], ys[unfreeze:])
    return params, jnp.concatenate([before, after])
