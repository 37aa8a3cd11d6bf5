"""`jnp.vectorize` with a signature, and `lax.map` over the rows of a table."""

import jax
import jax.numpy as jnp


def predict(w, b, x):
    return jnp.tanh(x @ w + b)


batched = jnp.vectorize(predict, signature="(i,o),(o),(i)->(o)")


def columns(w, b, xs):
    return jnp.moveaxis(batched(w, b, jnp.moveaxis(xs, 1, 0)), 0, 1)


def distances(a, b):
    return jax.lax.map(lambda p: jnp.linalg.norm(b - p, axis=1), a)
