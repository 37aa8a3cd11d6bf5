import dataclasses

import jax
import jax.numpy as jnp
from flax import nnx

kernel = [5, 4, 3, 8]
running = 0.2
kept = 0.25


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Params:
    rest: dict
    gates: list

    def logits(self, h):
        mean, square = h.mean(-1), (h * h).mean(-1)
        spread = jax.lax.rsqrt(square - mean**2 + 1e-5)
        h = (h - mean[..., None]) * spread[..., None]
        h = h * self.rest["norm.weight"] + self.rest["norm.bias"]
        return jnp.einsum("...d,wd->...w", h, self.rest["embed.weight"]) + self.rest["out.bias"]

    def gate(self, i, x, h):
        w, u, b, c = self.gates[i]
        return w @ x + b, u @ h + c


names = ["gru.weight_ih_l0", "gru.weight_hh_l0", "gru.bias_ih_l0", "gru.bias_hh_l0"]


def from_torch(state):
    parts = [jnp.split(jnp.asarray(state[name]), 3) for name in names]
    rest = {k: jnp.asarray(v) for k, v in state.items() if k not in names and k != "out.weight"}
    return Params(rest, [list(gate) for gate in zip(*parts, strict=True)])


def to_torch(params):
    stacked = [jnp.concatenate(list(parts)) for parts in zip(*params.gates, strict=True)]
    return {
        **params.rest,
        "out.weight": params.rest["embed.weight"],
        **dict(zip(names, stacked, strict=True)),
    }


def sentence(params, tokens):
    def step(h, token):
        x = params.rest["embed.weight"][token]
        r = jax.nn.sigmoid(sum(params.gate(0, x, h)))
        z = jax.nn.sigmoid(sum(params.gate(1, x, h)))
        from_x, from_h = params.gate(2, x, h)
        n = jnp.tanh(from_x + r * from_h)
        h = n + z * (h - n)
        return h, params.logits(h)

    start = jnp.zeros(params.rest["embed.weight"].shape[1])
    return jax.lax.scan(step, start, tokens)[1]


def forward(params, tokens):
    return jax.vmap(lambda one: sentence(params, one))(tokens)


class Centred(nnx.Module):
    def __init__(self, w, mean, rate, key):
        self.w, self.mean = nnx.Param(w), nnx.BatchStat(mean)
        self.dropout = nnx.Dropout(rate, rngs=nnx.Rngs(dropout=key))

    def __call__(self, x, train):
        if not train:
            return (x - self.mean[...]) @ self.w[...]
        mean = x.mean(0)
        self.mean[...] = 0.8 * self.mean[...] + 0.2 * mean
        return self.dropout(x - mean) @ self.w[...]


def apply(params, stats, x, rate, train, key):
    model = Centred(params["w"], stats["mean"], rate, jax.random.key(0) if key is None else key)
    out = model(x, train)
    return out, {"mean": model.mean[...]}


def fit(params, stats, key, xs, ys, rate, lr):
    def step(carry, batch):
        params, stats = carry
        x, y, key = batch

        def loss(params):
            out, new = apply(params, stats, x, rate, True, key)
            return ((out - y) ** 2).mean(), new

        (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(params)
        return ({"w": params["w"] - lr * grads["w"]}, stats), value

    keys = jax.random.split(key, len(xs))
    (params, stats), losses = jax.lax.scan(step, (params, stats), (xs, ys, keys))
    return params, stats, losses
