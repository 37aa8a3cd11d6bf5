import jax
import jax.numpy as jnp

jacobian_shape = (4, 2, 4, 3)


def jacobians(f, xs):
    return jax.vmap(jax.jacrev(f))(xs)


# Forward over reverse: the gradient is a function, and how it moves along v is H v. Nothing larger
# than a gradient is ever computed, and jvp takes x and v as they are, trees included.
def hvp(f, x, v):
    return jax.jvp(jax.grad(f), (x,), (v,))[1]


def gauss_newton_vp(f, x, v):
    _, jv = jax.jvp(f, (x,), (v,))
    _, pull = jax.vjp(f, x)
    (product,) = pull(jv)
    return product
