"""Parameters are differentiated, statistics are replaced, keys are split."""

import jax
import jax.numpy as jnp

kernel = (5, 4, 3, 8)
running = 0.2
kept = 0.25


def from_torch(state):
    return {
        "embed": state["embed.weight"],
        "w_x": state["gru.weight_ih_l0"].T,
        "w_h": state["gru.weight_hh_l0"].T,
        "b_x": state["gru.bias_ih_l0"],
        "b_h": state["gru.bias_hh_l0"],
        "scale": state["norm.weight"],
        "shift": state["norm.bias"],
        "b_out": state["out.bias"],
    }


def to_torch(params):
    return {
        "embed.weight": params["embed"],
        "gru.weight_ih_l0": params["w_x"].T,
        "gru.weight_hh_l0": params["w_h"].T,
        "gru.bias_ih_l0": params["b_x"],
        "gru.bias_hh_l0": params["b_h"],
        "norm.weight": params["scale"],
        "norm.bias": params["shift"],
        "out.weight": params["embed"],
        "out.bias": params["b_out"],
    }


def forward(params, tokens):
    params = jax.tree.map(jnp.asarray, params)

    def step(h, x):
        r, z, n = jnp.split(x @ params["w_x"] + params["b_x"], 3, axis=-1)
        hr, hz, hn = jnp.split(h @ params["w_h"] + params["b_h"], 3, axis=-1)
        r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
        h = (1 - z) * jnp.tanh(n + r * hn) + z * h
        return h, h

    xs = params["embed"][tokens]
    h = jnp.zeros_like(xs[:, 0])
    _, hs = jax.lax.scan(step, h, jnp.swapaxes(xs, 0, 1))
    hs = jnp.swapaxes(hs, 0, 1)
    hs = (hs - hs.mean(-1, keepdims=True)) / jnp.sqrt(hs.var(-1, keepdims=True) + 1e-5)
    return (hs * params["scale"] + params["shift"]) @ params["embed"].T + params["b_out"]


def apply(params, stats, x, rate, train, key):
    mean = x.mean(0) if train else stats["mean"]
    x = x - mean
    if train:
        stats = {"mean": 0.8 * stats["mean"] + 0.2 * mean}
        x = jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)
    return x @ params["w"], stats


def fit(params, stats, key, xs, ys, rate, lr):
    def step(carry, batch):
        params, stats, key = carry
        x, y = batch
        key, sub = jax.random.split(key)

        def loss(params):
            out, changed = apply(params, stats, x, rate, True, sub)
            return ((out - y) ** 2).mean(), changed

        (value, stats_now), grads = jax.value_and_grad(loss, has_aux=True)(params)
        params, stats = jax.tree.map(lambda p, g: p - lr * g, params, grads), stats_now
        carry = params, stats, key
        return carry, value

    (params, stats, _), losses = jax.lax.scan(step, (params, stats, key), (xs, ys))
    return params, stats, losses
