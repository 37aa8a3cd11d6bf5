"""Flax's RNN, with PyTorch's weights in its tree. Its carry is (c, h)."""

from functools import partial

import jax
import jax.numpy as jnp
from flax import linen as nn

running = [[1, 2], [11, 22]]


def variables(p):
    tree = {}
    bias = p["bias_ih_l0"] + p["bias_hh_l0"]
    for k, gate in enumerate("ifgo"):
        size = len(bias) // 4
        rows = slice(k * size, (k + 1) * size)
        tree["i" + gate] = {"kernel": p["weight_ih_l0"][rows].T}
        tree["h" + gate] = {"kernel": p["weight_hh_l0"][rows].T, "bias": bias[rows]}
    return tree


def lstm_cell(p, state, x):
    cell = nn.LSTMCell(state[0].shape[1])
    (c, h), _ = cell.apply({"params": variables(p)}, (state[1], state[0]), x)
    return h, c


@partial(jax.jit, static_argnames="reverse")
def lstm(p, x, state, lengths=None, reverse=False):
    h, c = state
    rnn = nn.RNN(nn.LSTMCell(h.shape[1]), return_carry=True, reverse=reverse, keep_order=True)
    tree = {"params": {"cell": variables(p)}}
    (c, h), outputs = rnn.apply(tree, x, initial_carry=(c, h), seq_lengths=lengths)
    if lengths is not None:
        outputs = jnp.where(jnp.arange(x.shape[1])[:, None] < lengths[:, None, None], outputs, 0)
    return outputs, (h, c)
