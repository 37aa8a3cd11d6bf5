"""NNX modules are made with any numbers, and then get those of `p`."""

import jax
import jax.numpy as jnp
from flax import nnx

nothing_to_see = [1.0, 2.0]


def linear(p, name):
    out, size = p[f"{name}.weight"].shape
    module = nnx.Linear(size, out, rngs=nnx.Rngs(0))
    module.kernel = nnx.Param(p[f"{name}.weight"].T)
    module.bias = nnx.Param(p[f"{name}.bias"])
    return module


def norm(p, name):
    module = nnx.LayerNorm(len(p[f"{name}.bias"]), epsilon=1e-5, rngs=nnx.Rngs(0))
    module.scale = nnx.Param(p[f"{name}.weight"])
    module.bias = nnx.Param(p[f"{name}.bias"])
    return module


def mha(p, x, mask, heads):
    T, d = x.shape
    w, b = p["self_attn.in_proj_weight"], p["self_attn.in_proj_bias"]
    q, k, v = jnp.einsum("td,rnhd->rtnh", x, w.reshape(3, heads, -1, d)) + b.reshape(3, 1, heads, -1)
    out = nnx.dot_product_attention(q, k, v, mask=mask[None])
    return out.reshape(T, d) @ p["self_attn.out_proj.weight"].T + p["self_attn.out_proj.bias"]


class Block(nnx.Module):
    def __init__(self, p, heads):
        self.p, self.heads = nnx.data(p), heads
        self.norm1, self.norm2 = norm(p, "norm1"), norm(p, "norm2")
        self.linear1, self.linear2 = linear(p, "linear1"), linear(p, "linear2")

    def __call__(self, x, mask):
        x = x + mha(self.p, self.norm1(x), mask, self.heads)
        return x + self.linear2(nnx.gelu(self.linear1(self.norm2(x)), approximate=False))


def block(p, x, mask, heads):
    return Block(p, heads)(x, mask)


def encode(p, xs, padding, heads):
    def masked(x, pad):
        return block(p, x, jnp.where(pad, False, jnp.ones((len(pad), 1), bool)), heads)

    return jax.vmap(masked)(xs, padding)
