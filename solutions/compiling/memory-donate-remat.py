import jax
import jax.numpy as jnp


def make_step(loss, lr):
    def step(state, x):
        grads = jax.grad(loss)(state["params"], x)
        params = jax.tree.map(lambda p, g: p - lr * g, state["params"], grads)
        average = jax.tree.map(lambda a, p: 0.9 * a + 0.1 * p, state["average"], params)
        return {"params": params, "average": average}

    return jax.jit(step, donate_argnums=0)


def start(params):
    # Two copies: a donated state needs a buffer for each leaf, and neither may
    # be one that the caller still holds.
    return {"params": jax.tree.map(jnp.copy, params), "average": jax.tree.map(jnp.copy, params)}


def best(step, score, state, xs):
    kept, least = None, jnp.inf
    for x in xs:
        state = step(state, x)
        value = score(state)
        if value < least:
            kept, least = jax.tree.map(jnp.copy, state), value
    return kept


def deep(block, layers, x, train):
    # The flag is bound here, because a checkpoint traces all that it is given.
    checkpointed = jax.checkpoint(lambda layer, x: block(layer, x, train))
    return jax.lax.scan(lambda x, layer: (checkpointed(layer, x), None), x, layers)[0]
