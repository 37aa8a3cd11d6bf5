"""One row at a time with cond; Taylor coefficients from jet-like nesting."""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def code(row):
    unit = jax.lax.cond(jnp.any(row != 0), lambda r: r / jnp.sqrt(r @ r), jnp.zeros_like, row)
    return jax.lax.stop_gradient(jnp.sign(row)) + (unit - jax.lax.stop_gradient(unit))


codes = jax.vmap(code)


def along(f, params, direction):
    start, unravel = ravel_pytree(params)
    way, _ = ravel_pytree(direction)

    def loss(t):
        return f(unravel(start + t * way))[0]

    zero = jnp.zeros(())
    derivatives = [loss]
    for _ in range(2):
        derivatives.append(jax.grad(derivatives[-1]))
    return *(d(zero) for d in derivatives), f(params)[1]


def influence(loss, score, params, weights, batches, lr):
    start, unravel = ravel_pytree(params)

    def run(weights):
        def step(v, example):
            return v - lr * jax.grad(lambda v: loss(unravel(v), *example))(v), v

        end, _ = jax.lax.scan(jax.checkpoint(step), start, (batches, weights))
        return score(unravel(end))

    return run(weights), jax.jacrev(run)(weights)
