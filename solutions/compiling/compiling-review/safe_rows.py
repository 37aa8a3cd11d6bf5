import jax
import jax.numpy as jnp

programs = 4
printed = "step (3,)\n0.0\n3.0\n0.0\n3.0"
raised = "RuntimeError"
while_timed = 1


def run(cell, h, xs, length):
    real = jnp.arange(len(xs)) < length
    # A row that the cell can bear takes the place of the padding.
    rows = jnp.where(real.reshape(-1, *[1] * (xs.ndim - 1)), xs, jnp.ones_like(xs))

    def turn(h, row):
        x, real = row
        h = jnp.where(real, cell(h, x), h)
        return h, h

    return jax.lax.scan(turn, h, (rows, real))


def make_fit(loss):
    value_and_gradient = jax.value_and_grad(loss)

    def fit(w, x, y, lr, tol, limit):
        def going(state):
            w, steps = state
            _, grad = value_and_gradient(w, x, y)
            return (jnp.abs(grad).max() > tol) & (steps < limit)

        def step(state):
            w, steps = state
            return w - lr * value_and_gradient(w, x, y)[1], steps + 1

        return jax.lax.while_loop(going, step, (w, 0))

    return jax.jit(fit, donate_argnums=(0,))
