"""Derivatives along the line x + t v at t = 0, everything compiled; columns of Jacobians by hand."""

from functools import partial

import jax
import jax.numpy as jnp

jacobian_shape = (4, 2, 4, 3)


@partial(jax.jit, static_argnums=0)
def jacobians(f, xs):
    basis = jnp.eye(xs.shape[1], dtype=xs.dtype)
    column = lambda e: jax.vmap(lambda x: jax.jvp(f, (x,), (e,))[1])(xs)  # noqa: E731
    return jnp.stack([column(e) for e in basis], axis=-1)


def along(g, x, v):
    """The derivative of g(x + t v) in t at 0."""
    line = lambda t: g(jax.tree.map(lambda a, b: a + t * b, x, v))  # noqa: E731
    return jax.jacfwd(line)(0.0)


def hvp(f, x, v):
    return along(jax.grad(f), x, v)


def gauss_newton_vp(f, x, v):
    jv = along(f, x, v)
    _, pull = jax.vjp(f, x)
    return pull(jv)[0]
