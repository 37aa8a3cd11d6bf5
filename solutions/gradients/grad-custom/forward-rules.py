"""custom_jvp where it can do it: forward mode works as well."""

import jax
import jax.numpy as jnp


def straight_through(f, x):
    @jax.custom_jvp
    def call(x):
        return f(x)

    call.defjvp(lambda primals, tangents: (f(*primals), *tangents))
    return call(x)


def apply(forward, backward, x):
    def value(x):
        return forward(x)[0]

    def backward_of_tuple(saved, ct):
        return (backward(saved, ct),)

    f = jax.custom_vjp(value)
    f.defvjp(fwd=forward, bwd=backward_of_tuple)
    return f(x)


def clip_gradient(x, c):
    return apply(lambda x: (x, ()), lambda saved, ct: jax.lax.clamp(-c, ct, c), x)


def root(solve, f, a):
    @jax.custom_jvp
    def solution(a):
        return solve(f, a)

    @solution.defjvp
    def solution_jvp(primals, tangents):
        (a,), (da,) = primals, tangents
        x = solution(a)
        f_a_da = jax.jvp(lambda a: f(x, a), (a,), (da,))[1]
        return x, -f_a_da / jax.grad(f)(x, a)

    return solution(a)
