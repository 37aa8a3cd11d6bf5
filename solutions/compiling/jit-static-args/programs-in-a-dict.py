import functools

import jax
import jax.numpy as jnp


@functools.cache
def mean_of(size):
    return jax.jit(lambda x: jnp.stack([jnp.roll(x, -i) for i in range(size)]).mean(0)[: len(x) - size + 1])


def moving_mean(x, size):
    return mean_of(size)(x)


LAYERS = {
    "relu": jax.jit(lambda w, x: jax.nn.relu(jnp.dot(x, w))),
    "tanh": jax.jit(lambda w, x: jnp.tanh(jnp.dot(x, w))),
    "gelu": jax.jit(lambda w, x: jax.nn.gelu(jnp.dot(x, w), False)),
}


def layer(w, x, activation):
    return LAYERS[activation](w, x)


@jax.jit
def plain(w, v, g, lr):
    v = 0.9 * v + g
    return w - lr * v, v


@jax.jit
def nesterov_step(w, v, g, lr):
    v = 0.9 * v + g
    return w - lr * g - lr * 0.9 * v, v


def momentum_step(w, v, g, lr, nesterov):
    return (nesterov_step if nesterov else plain)(w, v, g, lr)


@functools.cache
def step_for(f):
    def step(x):
        y, pull = jax.vjp(f, x)
        return x - y / pull(jnp.ones_like(y))[0]

    return jax.jit(step)


def newton(f, x, steps):
    step = step_for(f)
    for _ in range(steps):
        x = step(x)
    return x
