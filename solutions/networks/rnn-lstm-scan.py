"""One step is the cell, and a scan over the axis of time is the layer.

A step beyond the end of a sequence keeps the state. Read backwards, the padding comes first, so the
state is still the initial one when the last real step begins.
"""

from functools import partial

import jax
import jax.numpy as jnp

running = [[1, 2], [11, 22]]


def lstm_cell(p, state, x):
    h, c = state
    z = x @ p["weight_ih_l0"].T + p["bias_ih_l0"] + h @ p["weight_hh_l0"].T + p["bias_hh_l0"]
    i, f, g, o = jnp.split(z, 4, axis=1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


@partial(jax.jit, static_argnames="reverse")
def lstm(p, x, state, lengths=None, reverse=False):
    n, count, _ = x.shape
    if lengths is None:
        lengths = jnp.full(n, count)

    def turn(old, at):
        t, x = at
        real = (t < lengths)[:, None]
        h, c = lstm_cell(p, old, x)
        state = jnp.where(real, h, old[0]), jnp.where(real, c, old[1])
        return state, jnp.where(real, h, 0)

    steps = (jnp.arange(count), x.swapaxes(0, 1))
    state, outputs = jax.lax.scan(turn, state, steps, reverse=reverse)
    return outputs.swapaxes(0, 1), state
