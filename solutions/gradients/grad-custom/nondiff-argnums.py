from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def straight_through(f, x):
    return f(x)


def straight_through_fwd(f, x):
    return f(x), ()


def straight_through_bwd(f, saved, ct):
    return (ct,)


straight_through.defvjp(straight_through_fwd, straight_through_bwd)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def apply(forward, backward, x):
    y, _ = forward(x)
    return y


apply.defvjp(lambda f, b, x: f(x), lambda f, b, saved, ct: (b(saved, ct),))


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def clip_gradient(x, c):
    return x


clip_gradient.defvjp(lambda x, c: (x, None), lambda c, _, ct: (jnp.clip(ct, min=-c, max=c),))


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def root(solve, f, a):
    return solve(f, a)


def root_fwd(solve, f, a):
    x = solve(f, a)
    return x, (x, a)


def root_bwd(solve, f, saved, ct):
    x, a = saved
    _, pull = jax.vjp(f, x, a)
    f_x, f_a = pull(ct)
    return (-ct * f_a / f_x,)


root.defvjp(root_fwd, root_bwd)
