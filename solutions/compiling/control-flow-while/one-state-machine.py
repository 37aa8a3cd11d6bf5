"""One turn function for both loops; x_before and x are the state."""

import jax
import jax.numpy as jnp


def settle(f, x, tol, limit):
    def moved(before, x):
        return jnp.any(jnp.abs(x - before) > tol)

    def going(state):
        before, x, turns = state
        return (turns < limit) & ((turns == 0) | moved(before, x))

    def turn(state):
        _, x, turns = state
        return x, f(x), turns + 1

    _, x, turns = jax.lax.while_loop(going, turn, (x, x, 0))
    return x, turns


def repeat(f, x, n):
    return jax.lax.fori_loop(jnp.int32(0) if isinstance(n, jax.Array) else 0, n, lambda _, x: f(x), x)


def settle_within(f, x, tol, n):
    def turn(_, state):
        x, going = state
        new = jnp.where(going, f(x), x)
        return new, going & jnp.any(jnp.abs(new - x) > tol)

    return jax.lax.fori_loop(0, n, turn, (x, jnp.array(True)))[0]
