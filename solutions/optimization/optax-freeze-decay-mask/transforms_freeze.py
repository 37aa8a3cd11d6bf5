"""optax.transforms.freeze for the zeros, and Adam with a decay of its own."""

import jax
import jax.numpy as jnp
import optax


def freeze(tx, frozen):
    def moving(tree):
        return {name: part for name, part in tree.items() if name not in frozen}

    def init(params):
        mask = {name: name in frozen for name in params}
        return tx.init(moving(params)), optax.transforms.freeze(mask).init(params)

    def update(grads, states, params):
        mask = {name: name in frozen for name in params}
        still = optax.transforms.freeze(mask)
        updates, state = tx.update(moving(grads), states[0], moving(params))
        zeros, rest = still.update(grads, states[1], params)
        return {**zeros, **updates}, (state, rest)

    return optax.GradientTransformation(init, update)


def make_tx(lr, head_lr, decay):
    def rates(params):
        return {name: head_lr if name == "head" else lr for name in params}

    def init(params):
        return optax.scale_by_adam().init(params)

    def update(grads, state, params):
        updates, state = optax.scale_by_adam().update(grads, state)
        scaled = {}
        for name, rate in rates(params).items():
            scaled[name] = jax.tree.map(
                lambda u, p, rate=rate: -rate * (u + decay * p if p.ndim >= 2 else u),
                updates[name],
                params[name],
            )
        return scaled, state

    return optax.GradientTransformation(init, update)


def finetune(tx, loss, params, frozen, xs, ys, unfreeze):
    batches = list(zip(xs, ys))
    values = []
    for now, part in ((freeze(tx, frozen), batches[:unfreeze]), (tx, batches[unfreeze:])):
        state = now.init(params)
        for x, y in part:
            values.append(loss(params, x, y))
            updates, state = now.update(jax.grad(loss)(params, x, y), state, params)
            params = optax.apply_updates(params, updates)
    return params, jnp.stack(values)
