"""Checkpoints around groups of layers as well as around layers; best by a scan on the device."""

import jax
import jax.numpy as jnp
from jax import lax


def make_step(loss, lr):
    def step(state, x):
        _, pullback = jax.vjp(lambda p: loss(p, x), state["params"])
        (grads,) = pullback(jnp.ones(()))
        params = jax.tree.map(lambda p, g: p - lr * g, state["params"], grads)
        mean = jax.tree.map(lambda a, p: a + 0.1 * (p - a), state["average"], params)
        return {"params": params, "average": mean}

    return jax.jit(step, donate_argnums=0)


def start(params):
    fresh = jax.tree.map(lambda p: p + 0, params)
    return {"params": fresh, "average": jax.tree.map(lambda p: p + 0, params)}


def best(step, score, state, xs):
    def body(carry, x):
        state, kept, least = carry
        state = step(state, x)
        value = score(state)
        better = value < least
        kept = jax.tree.map(lambda new, old: jnp.where(better, new, old), state, kept)
        return (state, kept, jnp.where(better, value, least)), None

    (_, kept, _), _ = lax.scan(body, (state, state, jnp.array(jnp.inf)), xs)
    return kept


def deep(block, layers, x, train):
    one = jax.checkpoint(lambda x, layer: (block(layer, x, train), None))

    @jax.checkpoint
    def group(x, some):
        return lax.scan(one, x, some)[0], None

    count = jax.tree.leaves(layers)[0].shape[0]
    size = next(s for s in (5, 3, 2, 1) if count % s == 0)
    groups = jax.tree.map(lambda w: w.reshape(count // size, size, *w.shape[1:]), layers)
    return lax.scan(group, x, groups)[0]
