"""A list of (kernel, bias), kernels transposed at once; one-hot labels; optax for the update."""

import jax
import jax.numpy as jnp
import optax

after_sixty_steps = "c"


def port(state):
    return [(state[f"{i}.weight"].T, state[f"{i}.bias"]) for i in (0, 2, 4)]


def scores(params, x):
    *hidden, (w, b) = params
    for kernel, bias in hidden:
        x = jnp.maximum(x @ kernel + bias, 0)
    return x @ w + b


def loss(params, x, y):
    return optax.softmax_cross_entropy(scores(params, x), jax.nn.one_hot(y, 10)).sum()


@jax.jit
def step(params, x, y, lr):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    tx = optax.sgd(lr)
    updates, _ = tx.update(grads, tx.init(params))
    return optax.apply_updates(params, updates), value


def update(params, x, y, lr):
    return step(params, x, y, lr)[0]


def train(params, xs, ys, lr):
    losses = []
    for x, y in zip(xs, ys):
        params, value = step(params, x, y, lr)
        losses.append(value)
    return jnp.stack(losses), params


def accuracy(params, x, y):
    return jnp.mean(jnp.argmax(scores(params, x), axis=-1) == y)
