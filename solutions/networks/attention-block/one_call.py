"""`jax.nn.dot_product_attention` and `jnp.var`."""

import jax
import jax.numpy as jnp

nothing_to_see = (1, 2)


def norm(x, weight, bias):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * weight + bias


def mha(p, x, mask, heads):
    w, b = p["self_attn.in_proj_weight"], p["self_attn.in_proj_bias"]
    d = x.shape[-1]
    q, k, v = (
        (x @ w[i * d : (i + 1) * d].T + b[i * d : (i + 1) * d]).reshape(-1, heads, d // heads)
        for i in range(3)
    )
    out = jax.nn.dot_product_attention(q, k, v, mask=mask[None]).reshape(x.shape)
    return out @ p["self_attn.out_proj.weight"].T + p["self_attn.out_proj.bias"]


def block(p, x, mask, heads):
    x = x + mha(p, norm(x, p["norm1.weight"], p["norm1.bias"]), mask, heads)
    h = norm(x, p["norm2.weight"], p["norm2.bias"]) @ p["linear1.weight"].T + p["linear1.bias"]
    return x + jax.nn.gelu(h, approximate=False) @ p["linear2.weight"].T + p["linear2.bias"]


def encode(p, xs, padding, heads):
    def one(x, pad):
        return block(p, x, jnp.tile(~pad, (len(pad), 1)), heads)

    return jax.vmap(one)(xs, padding)
