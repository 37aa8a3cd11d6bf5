"""A function of one head, mapped over the heads; -1e9 is added, softmax and GELU are written out."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.scipy.special import erf

nothing_to_see = [1.0, 2.0]


def attend(q, k, v, bias):
    scores = q @ k.T / q.shape[-1] ** 0.5 + bias
    e = jnp.exp(scores - scores.max(axis=1, keepdims=True))
    return e @ v / e.sum(axis=1, keepdims=True)


def mha(p, x, mask, heads):
    T, d = x.shape
    w = p["self_attn.in_proj_weight"].reshape(3, heads, d // heads, d)
    b = p["self_attn.in_proj_bias"].reshape(3, heads, 1, d // heads)
    q, k, v = jnp.einsum("td,rnhd->rnth", x, w) + b
    bias = (1 - mask.astype(x.dtype)) * -1e9
    out = jax.vmap(attend, in_axes=(0, 0, 0, None), out_axes=1)(q, k, v, bias)
    return out.reshape(T, d) @ p["self_attn.out_proj.weight"].T + p["self_attn.out_proj.bias"]


def gelu(x):
    return 0.5 * x * (1 + erf(x / 2**0.5))


def one_token(f):
    return jax.vmap(f, in_axes=(None, 0))


@one_token
def norm1(p, x):
    return (x - x.mean()) / (x.var() + 1e-5) ** 0.5 * p["norm1.weight"] + p["norm1.bias"]


@one_token
def feed_forward(p, x):
    h = (x - x.mean()) / (x.var() + 1e-5) ** 0.5 * p["norm2.weight"] + p["norm2.bias"]
    h = gelu(p["linear1.weight"] @ h + p["linear1.bias"])
    return p["linear2.weight"] @ h + p["linear2.bias"]


@partial(jax.jit, static_argnames="heads")
def block(p, x, mask, heads):
    x = x + mha(p, norm1(p, x), mask, heads)
    return x + feed_forward(p, x)


@partial(jax.jit, static_argnames="heads")
def encode(p, xs, padding, heads):
    pairs = jax.vmap(lambda pad: jnp.ones_like(pad)[:, None] & ~pad[None, :])(padding)
    return jax.vmap(lambda x, mask: block(p, x, mask, heads))(xs, pairs)
