"""A loop over the heads, softmax(where=…), and a scan over the sequences."""

import jax
import jax.numpy as jnp
from jax import lax

nothing_to_see = [1.0, 2.0]
NAMES = ("self_attn.out_proj", "linear1", "linear2")


def affine(p, name):
    w, b = p[name + ".weight"], p[name + ".bias"]
    return lambda x: jnp.dot(x, w.T) + b


def normalised(p, name, x, eps=1e-5):
    mean = jnp.mean(x, axis=1)[:, None]
    variance = jnp.mean(jnp.square(x - mean), axis=1)[:, None]
    return p[name + ".weight"] * (x - mean) / jnp.sqrt(variance + eps) + p[name + ".bias"]


def mha(p, x, mask, heads):
    wq, wk, wv = jnp.vsplit(p["self_attn.in_proj_weight"], 3)
    bq, bk, bv = jnp.split(p["self_attn.in_proj_bias"], 3)
    q, k, v = x @ wq.T + bq, x @ wk.T + bk, x @ wv.T + bv
    size = q.shape[1] // heads
    outs = []
    for n in range(heads):
        part = slice(n * size, (n + 1) * size)
        scores = (q[:, part] / jnp.sqrt(size)) @ k[:, part].T
        weights = jax.nn.softmax(scores, axis=1, where=mask)
        outs.append(weights @ v[:, part])
    return affine(p, NAMES[0])(jnp.hstack(outs))


def block(p, x, mask, heads):
    first, second = affine(p, NAMES[1]), affine(p, NAMES[2])
    x += mha(p, normalised(p, "norm1", x), mask, heads)
    x += second(jax.nn.gelu(first(normalised(p, "norm2", x)), approximate=False))
    return x


def encode(p, xs, padding, heads):
    def step(_, pair):
        x, pad = pair
        seen = jnp.zeros((x.shape[0], x.shape[0]), bool) | jnp.logical_not(pad)
        return None, block(p, x, seen, heads)

    return lax.scan(step, None, (xs, padding))[1]
