"""Nothing here looks into `f`: which arguments are batched is said from outside, in `in_axes`. The
options are bound before `vmap` sees the function, because it maps every keyword argument."""

import functools

import jax


def rows(f, xs):
    return jax.vmap(f)(xs)


def columns(f, xs):
    return jax.vmap(f, in_axes=1, out_axes=1)(xs)


def predictions(f, params, xs, **options):
    one = functools.partial(f, **options)
    return jax.vmap(one, in_axes=(None, 0))(params, xs)


def table(f, a, b):
    along_b = jax.vmap(f, in_axes=(None, 0))
    return jax.vmap(along_b, in_axes=(0, None))(a, b)
