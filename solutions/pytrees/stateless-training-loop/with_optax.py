"""optax keeps the momentum, and the state is a dict."""

import jax
import optax

w_afterwards = 3 / 4

# The learning rate comes in with each step, so it stays out of the optimizer.
momentum = optax.trace(decay=0.9)


def start(params, stats):
    return {"params": params, "opt": momentum.init(params), "stats": stats}


def step(loss, state, x, y, lr):
    def with_stats(params):
        return loss(params, state["stats"], x, y)

    (value, stats), grads = jax.value_and_grad(with_stats, has_aux=True)(state["params"])
    updates, opt = momentum.update(grads, state["opt"])
    updates = jax.tree.map(lambda u: -lr * u, updates)
    params = optax.apply_updates(state["params"], updates)
    return {"params": params, "opt": opt, "stats": stats}, value


def fit(loss, state, xs, ys, lr):
    return jax.lax.scan(lambda s, b: step(loss, s, b[0], b[1], lr), state, (xs, ys))


def read(state):
    return state["params"], state["stats"]
