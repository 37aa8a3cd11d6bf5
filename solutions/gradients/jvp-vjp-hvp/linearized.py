"""`linearize`, and the transpose of what it returns."""

import jax

jacobian_shape = (4, 2, 4, 3)


def jacobians(f, xs):
    return jax.vmap(jax.jacfwd(f))(xs)


def hvp(f, x, v):
    _, product = jax.linearize(jax.grad(f), x)
    return product(v)


def gauss_newton_vp(f, x, v):
    _, forward = jax.linearize(f, x)
    backward = jax.linear_transpose(forward, x)
    return backward(forward(v))[0]
