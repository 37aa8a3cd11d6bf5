import jax
import jax.numpy as jnp

programs = 4
printed = "step (3,)\n0.0\n3.0\n0.0\n3.0"
raised = "RuntimeError"
while_timed = 1


def run(cell, h, xs, length):
    # cond and not where, so that cell never sees the padding: its NaN would get
    # into the gradient.
    def turn(h, row):
        t, x = row
        h = jax.lax.cond(t < length, cell, lambda h, x: h, h, x)
        return h, h

    return jax.lax.scan(turn, h, (jnp.arange(len(xs)), xs))


def make_fit(loss):
    gradient = jax.grad(loss)

    # All that the condition asks for is in the state; everything else is an
    # argument that is traced, so new numbers find the same program.
    def fit(w, x, y, lr, tol, limit):
        def going(state):
            _, grad, steps = state
            return (jnp.max(jnp.abs(grad)) > tol) & (steps < limit)

        def step(state):
            w, grad, steps = state
            w = w - lr * grad
            return w, gradient(w, x, y), steps + 1

        w, _, steps = jax.lax.while_loop(going, step, (w, gradient(w, x, y), 0))
        return w, steps

    return jax.jit(fit, donate_argnums=0)
