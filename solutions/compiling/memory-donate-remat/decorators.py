"""Decorators, methods of arrays, and the flag as a static argument of the checkpoint."""

from functools import partial

import jax
import jax.numpy as jnp


def make_step(loss, lr):
    @partial(jax.jit, donate_argnames=("state",))
    def step(state, x):
        grads = jax.grad(loss)(state["params"], x)
        params = {k: p - lr * grads[k] for k, p in state["params"].items()}
        average = {k: 0.9 * a + 0.1 * params[k] for k, a in state["average"].items()}
        return dict(params=params, average=average)

    return step


def start(params):
    return {part: {k: p.copy() for k, p in params.items()} for part in ("params", "average")}


def best(step, score, state, xs):
    kept, least = None, float("inf")
    for i in range(len(xs)):
        state = step(state, xs[i])
        value = float(score(state))
        if kept is None or value < least:
            kept = {part: {k: a.copy() for k, a in tree.items()} for part, tree in state.items()}
            least = value
    return kept


def deep(block, layers, x, train):
    small = jax.checkpoint(block, static_argnums=(2,))

    def body(x, layer):
        return small(layer, x, train), None

    x, _ = jax.lax.scan(body, x, layers)
    return x
