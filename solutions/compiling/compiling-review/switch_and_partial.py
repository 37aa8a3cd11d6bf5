from functools import partial

import jax
import jax.numpy as jnp

programs = 4
printed = "step (3,)\n0.0\n3.0\n0.0\n3.0"
raised = "RuntimeError"
while_timed = 1


def run(cell, h, xs, length):
    def turn(h, t):
        h = jax.lax.switch(jnp.int32(t < length), [lambda h, x: h, cell], h, xs[t])
        return h, h

    return jax.lax.scan(turn, h, jnp.arange(xs.shape[0]))


def make_fit(loss):
    @partial(jax.jit, donate_argnames="w")
    def fit(w, x, y, lr, tol, limit):
        def gradient(w):
            _, pull = jax.vjp(lambda w: loss(w, x, y), w)
            return pull(1.0)[0]

        def going(state):
            return jnp.logical_and(jnp.any(jnp.abs(state["grad"]) > tol), state["steps"] < limit)

        def step(state):
            w = state["w"] - lr * state["grad"]
            return {"w": w, "grad": gradient(w), "steps": state["steps"] + 1}

        state = {"w": w, "grad": gradient(w), "steps": jnp.int32(0)}
        state = jax.lax.while_loop(going, step, state)
        return state["w"], state["steps"]

    return fit
