import jax
import jax.numpy as jnp


def settle(f, x, tol, limit):
    # What the condition asks for is part of the state, because it is all that
    # the compiled loop hands from one turn to the next.
    def moves(state):
        _, change, turns = state
        return (change > tol) & (turns < limit)

    def turn(state):
        x, _, turns = state
        new = f(x)
        return new, jnp.max(jnp.abs(new - x)), turns + 1

    x, _, turns = jax.lax.while_loop(moves, turn, (x, jnp.inf, 0))
    return x, turns


def repeat(f, x, n):
    # A scan, with a gradient, if n is an integer; a while_loop if it is traced.
    return jax.lax.fori_loop(0, n, lambda i, x: f(x), x)


def settle_within(f, x, tol, n):
    def turn(state, _):
        x, settled = state
        new = f(x)
        near = jnp.max(jnp.abs(new - x)) <= tol
        return (jnp.where(settled, x, new), settled | near), None

    (x, _), _ = jax.lax.scan(turn, (x, False), length=n)
    return x
