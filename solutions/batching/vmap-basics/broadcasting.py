"""Hand-batched code, as in PyTorch: broadcasting and explicit axes."""

import jax.numpy as jnp


def predict(w, b, x):
    return jnp.tanh(jnp.dot(x, w) + b)


def batched(w, b, xs):
    return predict(w, b, xs)  # x @ w + b already broadcasts over rows


def columns(w, b, xs):
    return jnp.tanh(w.T @ xs + b[:, None])


def distances(a, b):
    diff = a[:, jnp.newaxis, :] - b[jnp.newaxis, :, :]
    return jnp.sqrt((diff**2).sum(axis=-1))
