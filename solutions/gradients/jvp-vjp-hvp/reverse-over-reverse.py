"""PyTorch's double backward: differentiate the dot product of the gradient and v."""

import jax
import jax.numpy as jnp

jacobian_shape = [4, 2, 4, 3]


def dot(a, b):
    return sum(jax.tree.leaves(jax.tree.map(jnp.vdot, a, b)))


def jacobians(f, xs):
    def one(x):
        y, pull = jax.vjp(f, x)
        return jax.vmap(lambda u: pull(u)[0])(jnp.eye(len(y)))

    return jax.vmap(one)(xs)


def hvp(f, x, v):
    return jax.grad(lambda x: dot(jax.grad(f)(x), v))(x)


def gauss_newton_vp(f, x, v):
    # The transpose of the transpose: J v is the derivative of u -> J' u in the direction of v.
    y, pull = jax.vjp(f, x)
    (jv,) = jax.vjp(lambda u: pull(u)[0], y)[1](v)
    return pull(jv)[0]
