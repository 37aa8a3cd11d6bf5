"""One nested `vmap` with the axes of the table said outside; a tree of axes for the parameters."""

import jax


def rows(f, xs):
    axes = (0,)
    return jax.vmap(lambda *one: f(*one), in_axes=axes)(xs)


def columns(f, xs):
    return jax.vmap(f, in_axes=(1,), out_axes=-1)(xs)


def predictions(f, params, xs, **options):
    everywhere = jax.tree.map(lambda _: None, params)

    def one(params, x):
        return f(params, x, **options)

    return jax.vmap(one, in_axes=(everywhere, 0))(params, xs)


def table(f, a, b):
    down = jax.vmap(f, in_axes=(0, None))
    return jax.vmap(down, in_axes=(None, 0), out_axes=1)(a, b)
