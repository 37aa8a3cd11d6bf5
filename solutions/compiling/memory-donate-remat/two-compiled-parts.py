"""make_step donates through a lambda; best remembers when, and keeps a compiled copy."""

import jax
import jax.numpy as jnp

copied = jax.jit(lambda tree: jax.tree.map(jnp.copy, tree))


def make_step(loss, lr):
    def update(params, average, x):
        value, grads = jax.value_and_grad(loss)(params, x)
        del value
        params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
        return params, jax.tree.map(lambda a, p: 0.9 * a + 0.1 * p, average, params)

    compiled = jax.jit(update, donate_argnums=(0, 1))

    def step(state, x):
        params, average = compiled(state["params"], state["average"], x)
        return {"params": params, "average": average}

    return step


def start(params):
    return {"params": copied(params), "average": copied(params)}


def best(step, score, state, xs):
    state = step(state, xs[0])
    kept, least = copied(state), score(state)
    for x in xs[1:]:
        state = step(state, x)
        if (value := score(state)) < least:
            kept, least = copied(state), value
    return kept


def deep(block, layers, x, train):
    call = jax.checkpoint(lambda x, layer: block(layer, x, train), prevent_cse=False)
    count = len(jax.tree.leaves(layers)[0])

    def body(i, x):
        return call(x, jax.tree.map(lambda w: w[i], layers))

    return jax.lax.fori_loop(0, count, body, x)
