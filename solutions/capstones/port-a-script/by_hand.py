"""AdamW, the schedule and the average written out, in a NamedTuple."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    params: dict
    average: dict
    first: dict
    second: dict
    count: int
    config: dict


def start(weights, config):
    params = {name: jnp.asarray(value) for name, value in weights.items()}
    zeros = {name: jnp.zeros_like(value) for name, value in params.items()}
    return State(params, params, zeros, zeros, 0, config)


def linear(params, name, x):
    return jnp.einsum("ni,oi->no", x, params[name + ".weight"]) + params[name + ".bias"]


def forward(params, x):
    h = linear(params, "embed", x)
    centred = h - jnp.mean(h, axis=1, keepdims=True)
    spread = jnp.sqrt(jnp.mean(centred**2, axis=1, keepdims=True) + 1e-5)
    normed = centred / spread * params["block.norm.weight"] + params["block.norm.bias"]
    up = linear(params, "block.up", normed)
    gelu = 0.5 * up * (1 + jax.scipy.special.erf(up / math.sqrt(2)))
    return linear(params, "head", h + linear(params, "block.down", gelu))


def scores(state, x):
    return forward(state.params, x)


def averaged(state, x):
    return forward(state.average, x)


def smoothed_loss(params, x, y, smoothing):
    logs = jax.nn.log_softmax(forward(params, x))
    right = jnp.take_along_axis(logs, y[:, None], axis=1)[:, 0]
    return -((1 - smoothing) * right + smoothing * logs.mean(axis=1)).mean()


def rate_at(count, config):
    if count < config["warmup"]:
        return config["rate"] * (count + 1) / config["warmup"]
    done = (count - config["warmup"]) / (config["steps"] - config["warmup"])
    return config["rate"] * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


gradient = jax.jit(jax.value_and_grad(smoothed_loss))


def step(state, x, y):
    config, count = state.config, state.count
    loss, grads = gradient(state.params, x, y, config["smoothing"])
    norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in grads.values()))
    scale = jnp.minimum(1.0, config["clip"] / (norm + 1e-6))
    rate = rate_at(count, config)
    params, average, first, second = {}, {}, {}, {}
    for name, p in state.params.items():
        g = grads[name] * scale
        first[name] = 0.9 * state.first[name] + 0.1 * g
        second[name] = 0.99 * state.second[name] + 0.01 * g * g
        m = first[name] / (1 - 0.9 ** (count + 1))
        v = second[name] / (1 - 0.99 ** (count + 1))
        decay = config["decay"] if p.ndim == 2 else 0.0
        params[name] = p * (1 - rate * decay) - rate * m / (jnp.sqrt(v) + 1e-6)
        share = config["average"]
        average[name] = share * state.average[name] + (1 - share) * params[name]
    return State(params, average, first, second, count + 1, config), loss, norm


def fit(state, xs, ys):
    losses = []
    for x, y in zip(xs, ys, strict=True):
        state, loss, _ = step(state, x, y)
        losses.append(loss)
    return jnp.stack(losses), state


def evaluate(state, x, y):
    loss = right = 0.0
    for at in range(0, len(x), 20):
        found = averaged(state, x[at : at + 20])
        labels = y[at : at + 20]
        logs = jax.nn.log_softmax(found)
        loss -= logs[jnp.arange(len(labels)), labels].sum()
        right += (found.argmax(axis=1) == labels).sum()
    return loss / len(x), right / len(x)
