"""A scan that carries the sum of the clipped gradients: one example's gradient at a time."""

import jax
import jax.numpy as jnp


def example_grads(loss, params, xs, ys):
    return jax.lax.map(lambda one: jax.grad(loss)(params, *one), (xs, ys), batch_size=4)


def norm(grad):
    return jnp.sqrt(jax.tree.reduce(lambda total, g: total + (g * g).sum(), grad, 0.0))


def norms(grads):
    return jax.vmap(norm)(grads)


def clipped_grad(loss, params, xs, ys, limit):
    def add(total, example):
        grad = jax.grad(loss)(params, *example)
        divisor = jnp.maximum(1, norm(grad) / limit)
        return jax.tree.map(lambda t, g: t + g / divisor, total, grad), None

    start = jax.tree.map(jnp.zeros_like, params)
    total, _ = jax.lax.scan(add, start, (xs, ys))
    return jax.tree.map(lambda t: t / len(xs), total)
