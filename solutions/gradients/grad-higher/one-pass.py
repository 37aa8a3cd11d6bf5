"""All derivatives of one point at once: each level returns those below it as auxiliary output."""

from functools import reduce

import jax
import jax.numpy as jnp


def nth_grad(f, n):
    return reduce(lambda g, _: jax.grad(g), range(n), f)


def derivatives(f, xs, n):
    def level(g):
        def next_level(x):
            slope, lower = jax.grad(g, has_aux=True)(x)
            return slope, (*lower, slope)

        return next_level

    def start(x):
        y = f(x)
        return y, (y,)

    all_of_one = reduce(lambda g, _: level(g), range(n), start)
    return jnp.stack(jax.vmap(lambda x: all_of_one(x)[1])(xs))


def heat_residual(u, ts, xs):
    def one(point):
        t, x = point
        (u_t, _), hessian = jax.grad(u, (0, 1))(t, x), jax.hessian(u, (0, 1))(t, x)
        return u_t - hessian[1][1]

    return jax.vmap(one)((ts, xs))
