import jax
import jax.numpy as jnp


def loss_and_grads(loss, params, x, y):
    (value, metrics), grads = jax.value_and_grad(loss, has_aux=True)(params, x, y)
    return value, metrics, grads


def input_grad(loss, params, x, y):
    grads, _ = jax.grad(loss, argnums=1, has_aux=True)(params, x, y)
    return grads


def sgd_step(loss, params, x, y, lr):
    grads, _ = jax.grad(loss, has_aux=True)(params, x, y)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


# The sum that PyTorch keeps in .grad is a variable here. It starts at zero by itself, and it is
# gone when the function returns, so two calls cannot disturb each other.
def accumulated(loss, params, xs, ys):
    mean = jax.tree.map(jnp.zeros_like, params)
    for x, y in zip(xs, ys):
        grads, _ = jax.grad(loss, has_aux=True)(params, x, y)
        mean = jax.tree.map(lambda m, g: m + g / len(xs), mean, grads)
    return mean
