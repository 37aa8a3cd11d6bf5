import jax
import jax.numpy as jnp

# Each line has its twin in the PyTorch. What differs is in the arguments: `ddof=1` for
# torch's standard deviation, all axes for `transpose`, the last axis for `top_k`.


def standardize(x):
    mean = x.mean(axis=1, keepdims=True)
    return (x - mean) / x.std(axis=1, keepdims=True, ddof=1)


def split_heads(x, h):
    return x.reshape(len(x), h, -1).transpose(1, 0, 2)


def top(x, k):
    values, indices = jax.lax.top_k(x.T, k)
    return values.T, indices.T


def pairs(a, b):
    n, m = len(a), len(b)
    left = jnp.broadcast_to(a[:, None], (n, m, a.shape[1]))
    right = jnp.broadcast_to(b[None], (n, m, b.shape[1]))
    return jnp.concatenate([left, right], axis=2)
