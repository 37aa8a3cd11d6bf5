"""The pairs are written out, then mapped once; the options travel through a dict."""

import jax
import jax.numpy as jnp


def rows(f, xs):
    return jax.vmap(f, 0, 0)(xs)


def columns(f, xs):
    return jnp.moveaxis(jax.vmap(f, -1)(xs), 0, -1)


def predictions(f, params, xs, **options):
    def one(shared, x):
        return f(shared["params"], x, **shared["options"])

    shared = {"params": params, "options": options}
    return jax.vmap(one, [None, 0])(shared, xs)


def table(f, a, b):
    n, m = len(a), len(b)
    left = jnp.repeat(a, m, axis=0)
    right = jnp.tile(b, (n, 1))
    return jax.vmap(f)(left, right).reshape(n, m)
