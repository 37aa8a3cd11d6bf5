"""Flax modules, to which PyTorch's numbers are handed."""

import jax
import jax.numpy as jnp
from flax import linen as nn

nothing_to_see = [1.0, 2.0]


def dense(p, name):
    return {"kernel": p[f"{name}.weight"].T, "bias": p[f"{name}.bias"]}


def scale(p, name):
    return {"scale": p[f"{name}.weight"], "bias": p[f"{name}.bias"]}


def attention_params(p, d, heads):
    parts = {}
    weights = jnp.split(p["self_attn.in_proj_weight"], 3)
    biases = jnp.split(p["self_attn.in_proj_bias"], 3)
    for name, w, b in zip(("query", "key", "value"), weights, biases):
        parts[name] = {"kernel": w.T.reshape(d, heads, -1), "bias": b.reshape(heads, -1)}
    out = dense(p, "self_attn.out_proj")
    return {**parts, "out": {**out, "kernel": out["kernel"].reshape(heads, -1, d)}}


class Block(nn.Module):
    heads: int
    ff: int

    @nn.compact
    def __call__(self, x, mask):
        h = nn.LayerNorm(epsilon=1e-5, name="norm1")(x)
        x = x + nn.MultiHeadDotProductAttention(self.heads, name="attention")(h, mask=mask)
        h = nn.Dense(self.ff, name="linear1")(nn.LayerNorm(epsilon=1e-5, name="norm2")(x))
        return x + nn.Dense(x.shape[-1], name="linear2")(nn.gelu(h, approximate=False))


def mha(p, x, mask, heads):
    model = nn.MultiHeadDotProductAttention(num_heads=heads)
    params = attention_params(p, x.shape[-1], heads)
    return model.apply({"params": params}, x, mask=mask[None])


def block(p, x, mask, heads):
    params = {
        "attention": attention_params(p, x.shape[-1], heads),
        "norm1": scale(p, "norm1"),
        "norm2": scale(p, "norm2"),
        "linear1": dense(p, "linear1"),
        "linear2": dense(p, "linear2"),
    }
    return Block(heads, len(p["linear1.bias"])).apply({"params": params}, x, mask[None])


def encode(p, xs, padding, heads):
    def one(x, pad):
        mask = nn.make_attention_mask(jnp.ones_like(pad), ~pad, dtype=bool)
        return block(p, x, mask[0], heads)

    return jax.vmap(one)(xs, padding)
