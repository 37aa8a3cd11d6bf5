from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="size")
def moving_mean(x, size):
    sums = jax.lax.reduce_window(x, 0.0, jax.lax.add, (size,), (1,), "valid")
    return sums / size


@partial(jax.jit, static_argnums=2)
def layer(w, x, activation):
    if activation == "gelu":
        return jax.nn.gelu(x @ w, approximate=False)
    return getattr(jax.nn, activation)(x @ w)


@partial(jax.jit, static_argnames=("nesterov",))
def momentum_step(w, v, g, lr, nesterov):
    def velocity(old):
        return 0.9 * old + g

    new = velocity(v)
    return w - lr * (velocity(new) if nesterov else new), new


@partial(jax.jit, static_argnames=("f", "steps"))
def newton(f, x, steps):
    if steps == 0:
        return x
    return newton(f, x - f(x) / jax.grad(f)(x), steps - 1)
