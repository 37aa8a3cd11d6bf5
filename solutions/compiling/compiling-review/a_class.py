from typing import NamedTuple

import jax
import jax.numpy as jnp

programs = 4
printed = "step (3,)\n0.0\n3.0\n0.0\n3.0"
raised = "RuntimeError"
while_timed = 1


class Fit(NamedTuple):
    w: jax.Array
    grad: jax.Array
    steps: jax.Array


def run(cell, h, xs, length):
    indices = jnp.arange(len(xs))
    body = lambda h, row: (lambda new: (new, new))(
        jax.lax.cond(row["t"] < length, lambda: cell(h, row["x"]), lambda: h)
    )
    return jax.lax.scan(body, h, {"t": indices, "x": xs})


def make_fit(loss):
    def fit(w, x, y, lr, tol, limit):
        slope = jax.grad(lambda w: loss(w, x, y))

        def step(s):
            w = s.w - lr * s.grad
            return Fit(w, slope(w), s.steps + 1)

        last = jax.lax.while_loop(
            lambda s: ~((jnp.max(jnp.abs(s.grad)) <= tol) | (s.steps >= limit)),
            step,
            Fit(w, slope(w), jnp.array(0)),
        )
        return last.w, last.steps

    return jax.jit(fit, donate_argnames=["w"])
