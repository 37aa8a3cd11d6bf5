import jax
import jax.numpy as jnp


def loss(w, x, y):
    return ((x @ w - y) ** 2).mean()


def start(w):
    return w, 0


@jax.jit
def step(state, x, y, lr):
    w, count = state
    count = count + 1
    rate = lr * jnp.minimum(1.0, count / 4)
    return w - rate * jax.grad(loss)(w, x, y), count


def weights(state):
    return state[0]
