"""settle_within counts the turns first, then repeats exactly as many, masked."""

import jax
import jax.numpy as jnp
from jax import lax


def settle(f, x, tol, limit):
    def moves(s):
        return jnp.logical_and(s["change"] > tol, s["turns"] < limit)

    def turn(s):
        new = f(s["x"])
        return {"x": new, "change": jnp.abs(new - s["x"]).max(), "turns": s["turns"] + 1}

    start = {"x": x, "change": jnp.array(jnp.inf), "turns": jnp.array(0)}
    end = lax.while_loop(moves, turn, start)
    return end["x"], end["turns"]


def repeat(f, x, n):
    def body(i, x):
        return f(x)

    return lax.fori_loop(0, n, body, x)


def settle_within(f, x, tol, n):
    turns = settle(f, x, tol, n)[1]
    return lax.fori_loop(0, n, lambda i, x: jnp.where(i < turns, f(x), x), x)
