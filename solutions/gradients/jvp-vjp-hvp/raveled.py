"""Trees as one long vector (`ravel_pytree`), operators as a class."""

import jax
from jax.flatten_util import ravel_pytree

jacobian_shape = (4, 2, 4, 3)


class Derivative:
    def __init__(self, f, at):
        self.f, self.at = f, at

    def __matmul__(self, v):
        return jax.jvp(self.f, (self.at,), (v,))[1]

    def transposed(self, u):
        return jax.vjp(self.f, self.at)[1](u)[0]


def jacobians(f, xs):
    return jax.vmap(jax.jacrev(f))(xs)


def hvp(f, x, v):
    flat, restore = ravel_pytree(x)
    gradient = jax.grad(lambda flat: f(restore(flat)))
    return restore(Derivative(gradient, flat) @ ravel_pytree(v)[0])


def gauss_newton_vp(f, x, v):
    flat, restore = ravel_pytree(x)
    jacobian = Derivative(lambda flat: f(restore(flat)), flat)
    return restore(jacobian.transposed(jacobian @ ravel_pytree(v)[0]))
