"""`fori_loop`, which writes the values into an array, and `jax.vjp` for the gradient."""

import jax
import jax.numpy as jnp

w_afterwards = 0.75


def start(params, stats):
    return [params, jax.tree.map(jnp.zeros_like, params), stats]


def step(loss, state, x, y, lr):
    params, momentum, stats = state
    value, vjp, stats = jax.vjp(lambda p: loss(p, stats, x, y), params, has_aux=True)
    (grads,) = vjp(jnp.ones_like(value))
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return [jax.tree.map(lambda p, m: p - lr * m, params, momentum), momentum, stats], value


def fit(loss, state, xs, ys, lr):
    def body(t, carry):
        state, values = carry
        state, value = step(loss, state, xs[t], ys[t], lr)
        return state, values.at[t].set(value)

    return jax.lax.fori_loop(0, xs.shape[0], body, (state, jnp.zeros(xs.shape[0])))


def read(state):
    return state[0], state[2]
