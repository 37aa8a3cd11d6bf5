from collections import namedtuple

import jax
import jax.numpy as jnp
from flax import linen as nn

kernel = (5, 4, 3, 8)
running = 0.2
kept = 0.25

Gru = namedtuple("Gru", "weight_ih_l0 weight_hh_l0 bias_ih_l0 bias_hh_l0")
Params = namedtuple("Params", "embed gru norm out_bias")


def from_torch(state):
    state = {name: jnp.array(value) for name, value in state.items()}
    gru = Gru(*(state[f"gru.{name}"] for name in Gru._fields))
    norm = {"scale": state["norm.weight"], "bias": state["norm.bias"]}
    return Params(state["embed.weight"], gru, norm, state["out.bias"])


def to_torch(params):
    state = {f"gru.{name}": value for name, value in params.gru._asdict().items()}
    state["embed.weight"] = state["out.weight"] = params.embed
    state["norm.weight"], state["norm.bias"] = params.norm["scale"], params.norm["bias"]
    state["out.bias"] = params.out_bias
    return state


def cell(gru, h, x):
    d = h.shape[-1]
    a = jnp.einsum("nd,gd->ng", x, gru.weight_ih_l0) + gru.bias_ih_l0
    b = jnp.einsum("nd,gd->ng", h, gru.weight_hh_l0) + gru.bias_hh_l0
    r = nn.sigmoid(a[:, :d] + b[:, :d])
    z = nn.sigmoid(a[:, d : 2 * d] + b[:, d : 2 * d])
    new = jnp.tanh(a[:, 2 * d :] + r * b[:, 2 * d :])
    return new - z * new + z * h


def forward(params, tokens):
    def word(h, t):
        h = cell(params.gru, h, params.embed[t])
        return h, nn.LayerNorm(epsilon=1e-5).apply({"params": params.norm}, h)

    start = jnp.zeros((tokens.shape[0], params.embed.shape[1]))
    _, hs = jax.lax.scan(word, start, tokens.T)
    return jnp.einsum("tnd,wd->ntw", hs, params.embed) + params.out_bias


def apply(params, stats, x, rate, train, key):
    if train:
        centre = jnp.mean(x, 0)
        stats = jax.tree.map(lambda old: 0.8 * old + 0.2 * centre, stats)
        dropout = nn.Dropout(rate, deterministic=False)
        x = dropout.apply({}, x - centre, rngs={"dropout": key})
    else:
        x = x - stats["mean"]
    return jnp.dot(x, params["w"]), stats


def fit(params, stats, key, xs, ys, rate, lr):
    @jax.jit
    def update(params, stats, key, x, y):
        def loss(w):
            out, new_stats = apply({"w": w}, stats, x, rate, True, key)
            return jnp.mean((out - y) ** 2), new_stats

        (value, stats_now), slope = jax.value_and_grad(loss, has_aux=True)(params["w"])
        return {"w": params["w"] - lr * slope}, stats_now, value

    values = []
    for x, y, k in zip(xs, ys, jax.random.split(key, len(xs)), strict=True):
        params, stats, value = update(params, stats, k, x, y)
        values.append(value)
    return params, stats, jnp.array(values)
