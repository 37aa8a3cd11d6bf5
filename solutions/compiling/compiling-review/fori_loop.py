import jax
import jax.numpy as jnp

programs = 4
printed = "step (3,)\n0.0\n3.0\n0.0\n3.0"
raised = "RuntimeError"
while_timed = 1


def run(cell, h, xs, length):
    def turn(carry, x):
        h, left = carry
        h = jax.lax.cond(left > 0, lambda: cell(h, x), lambda: h)
        return (h, left - 1), h

    (h, _), states = jax.lax.scan(turn, (h, length), xs)
    return h, states


def make_fit(loss):
    def fit(w, x, y, lr, tol, limit):
        def turn(_, state):
            w, steps = state
            grad = jax.grad(loss)(w, x, y)
            go = jnp.abs(grad).max() > tol
            return jnp.where(go, w - lr * grad, w), steps + go

        return jax.lax.fori_loop(0, limit, turn, (w, 0))

    return jax.jit(fit, donate_argnums=0)
