"""Two masks, one the opposite of the other; the rates are applied after one AdamW."""

import jax
import jax.numpy as jnp
import optax


def mask_of(condition):
    """A function that asks for every leaf's path whether its part meets the condition."""
    return lambda params: jax.tree.map_with_path(lambda path, _: condition(path[0].key), params)


def freeze(tx, frozen):
    return optax.chain(
        optax.masked(tx, mask_of(lambda name: name not in frozen)),
        optax.masked(optax.set_to_zero(), mask_of(lambda name: name in frozen)),
    )


def make_tx(lr, head_lr, decay):
    return optax.chain(
        optax.scale_by_adam(),
        optax.masked(
            optax.add_decayed_weights(decay),
            lambda params: jax.tree.map(lambda p: jnp.ndim(p) >= 2, params),
        ),
        optax.masked(optax.scale(-head_lr), mask_of(lambda name: name == "head")),
        optax.masked(optax.scale(-lr), mask_of(lambda name: name != "head")),
    )


def finetune(tx, loss, params, frozen, xs, ys, unfreeze):
    values = []
    for i in range(len(xs)):
        if i == 0 or i == unfreeze:
            now = freeze(tx, frozen) if i < unfreeze else tx
            state = now.init(params)
        value, grads = jax.value_and_grad(loss)(params, xs[i], ys[i])
        updates, state = now.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        values.append(value)
    return params, jnp.array(values)
