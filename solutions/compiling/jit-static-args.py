from functools import partial

import jax
import jax.numpy as jnp

ACTIVATIONS = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "gelu": partial(jax.nn.gelu, approximate=False),
}


@partial(jax.jit, static_argnames="size")
def moving_mean(x, size):
    count = x.shape[0] - size + 1
    return sum(x[i : i + count] for i in range(size)) / size


@partial(jax.jit, static_argnames="activation")
def layer(w, x, activation):
    return ACTIVATIONS[activation](x @ w)


# The flag decides in Python; the learning rate is only a number in the program.
@partial(jax.jit, static_argnames="nesterov")
def momentum_step(w, v, g, lr, nesterov):
    v = 0.9 * v + g
    g = g + 0.9 * v if nesterov else v
    return w - lr * g, v


# Compiled once for each f, because it is defined once and f is a key of its cache.
@partial(jax.jit, static_argnums=0)
def newton_step(f, x):
    return x - f(x) / jax.grad(f)(x)


def newton(f, x, steps):
    for _ in range(steps):
        x = newton_step(f, x)
    return x
