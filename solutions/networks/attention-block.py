"""Heads are an axis of the arrays, and `einsum` says what happens to it.

`mha` and `block` know nothing of a batch: `encode` maps `block` over sequences, each with its mask.
"""

import functools

import jax
import jax.numpy as jnp

nothing_to_see = [1.0, 2.0]


def linear(p, name, x):
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def layer_norm(p, name, x):
    x = x - x.mean(-1, keepdims=True)
    x = x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5)
    return x * p[f"{name}.weight"] + p[f"{name}.bias"]


def mha(p, x, mask, heads):
    t, d = x.shape
    qkv = x @ p["self_attn.in_proj_weight"].T + p["self_attn.in_proj_bias"]
    q, k, v = (part.reshape(t, heads, d // heads) for part in jnp.split(qkv, 3, axis=-1))
    scores = jnp.einsum("inh,jnh->nij", q, k) / (d // heads) ** 0.5
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
    out = jnp.einsum("nij,jnh->inh", weights, v)
    return linear(p, "self_attn.out_proj", out.reshape(t, d))


def block(p, x, mask, heads):
    x = x + mha(p, layer_norm(p, "norm1", x), mask, heads)
    hidden = jax.nn.gelu(linear(p, "linear1", layer_norm(p, "norm2", x)), approximate=False)
    return x + linear(p, "linear2", hidden)


def encode(p, xs, padding, heads):
    t = xs.shape[1]
    masks = jnp.broadcast_to(~padding[:, None, :], (len(xs), t, t))
    layer = functools.partial(block, heads=heads)
    return jax.vmap(layer, in_axes=(None, 0, 0))(p, xs, masks)
