"""A fori_loop that writes outputs into their places, without turning x."""

import jax
import jax.numpy as jnp
from jax import lax

running = ((1.0, 2.0), (11.0, 22.0))


def lstm_cell(p, state, x):
    h, c = state
    gates = jnp.concatenate([x, h], axis=1) @ jnp.hstack([p["weight_ih_l0"], p["weight_hh_l0"]]).T
    gates += p["bias_ih_l0"] + p["bias_hh_l0"]
    k = h.shape[1]
    i, f, o = (jax.nn.sigmoid(gates[:, j * k : (j + 1) * k]) for j in (0, 1, 3))
    c = f * c + i * jnp.tanh(gates[:, 2 * k : 3 * k])
    return o * jnp.tanh(c), c



def loop(p, x, state, lengths, reverse):
    n, T, _ = x.shape

    def body(k, both):
        outputs, (h, c) = both
        t = T - 1 - k if reverse else k
        new_h, new_c = lstm_cell(p, (h, c), x[:, t])
        if lengths is None:
            return outputs.at[:, t].set(new_h), (new_h, new_c)
        real = jnp.expand_dims(t < lengths, 1)
        outputs = outputs.at[:, t].set(jnp.where(real, new_h, 0.0))
        return outputs, (jnp.where(real, new_h, h), jnp.where(real, new_c, c))

    outputs = jnp.zeros((n, T, p["weight_hh_l0"].shape[1]), x.dtype)
    return lax.fori_loop(0, T, body, (outputs, tuple(state)))


def lstm(p, x, state, lengths=None, reverse=False):
    return compiled(p, x, state, lengths, reverse)


compiled = jax.jit(loop, static_argnames=("reverse",))
