import jax
import jax.numpy as jnp
from jax.lax import stop_gradient as detach


def straight_through(f, x):
    y = f(x)
    return jax.tree.map(lambda x, y: x - detach(x - y), x, y)


def apply(forward, backward, x):
    def rule(saved, ct):
        gradient = backward(saved, ct)
        return (jax.tree.map(jnp.asarray, gradient),)

    @jax.custom_vjp
    def call(*args):
        return forward(*args)[0]

    call.defvjp(forward, rule)
    return call(x)


def clip_gradient(x, c):
    return apply(lambda x: (x, ()), lambda _, ct: ct.clip(-c, c), x)


def root(solve, f, a):
    fixed = solve(f, detach(a))
    scale = detach(jax.jacfwd(f)(fixed, a))
    return fixed - (f(fixed, a) - detach(f(fixed, a))) / scale
