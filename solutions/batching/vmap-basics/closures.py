"""Lambdas that close over whatever is shared, so that `in_axes` is never needed."""

import jax


def rows(f, xs):
    return jax.vmap(f)(xs)


def columns(f, xs):
    return rows(f, xs.T).T


def predictions(f, params, xs, **options):
    return jax.vmap(lambda x: f(params, x, **options))(xs)


def table(f, a, b):
    return jax.vmap(lambda p: jax.vmap(lambda q: f(p, q))(b))(a)
