"""fit as a scan, optimizers put together from their parts."""

import jax
import optax


def make_sgd(lr, momentum, decay):
    return optax.chain(
        optax.add_decayed_weights(decay),
        optax.trace(decay=momentum, nesterov=True),
        optax.scale(-lr),
    )


def make_adamw(lr):
    return optax.chain(
        optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-8),
        optax.add_decayed_weights(0.01),
        optax.scale_by_learning_rate(lr),
    )


def make_rmsprop(lr):
    parts = optax.scale_by_rms(decay=0.99, eps=1e-8, eps_in_sqrt=False)
    return optax.chain(parts, optax.scale(-lr))


def train_step(tx, loss, params, state, x, y):
    value, grads = jax.value_and_grad(lambda p: loss(p, x, y))(params)
    updates, state = tx.update(grads, state, params=params)
    params = jax.tree.map(lambda p, u: p + u, params, updates)
    return params, state, value


def fit(tx, loss, params, xs, ys):
    def body(carry, batch):
        params, state, value = train_step(tx, loss, *carry, *batch)
        return (params, state), value

    (params, _), values = jax.lax.scan(body, (params, tx.init(params)), (xs, ys))
    return params, values
