"""After the last turn that is needed, a cond no longer calls f."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    x: jax.Array
    change: jax.Array
    turns: jax.Array


def _start(x):
    return State(x, jnp.float32(jnp.inf), jnp.int32(0))


def _turn(f, state):
    new = f(state.x)
    return State(new, jnp.linalg.norm(jnp.ravel(new - state.x), ord=jnp.inf), state.turns + 1)


def settle(f, x, tol, limit):
    state = jax.lax.while_loop(
        lambda s: (s.change > tol) & (s.turns < limit), lambda s: _turn(f, s), _start(x)
    )
    return state.x, state.turns


def repeat(f, x, n):
    if isinstance(n, int):
        return jax.lax.scan(lambda x, _: (f(x), None), x, length=n)[0]
    return jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]


def settle_within(f, x, tol, n):
    def turn(state, _):
        return jax.lax.cond(state.change > tol, lambda s: _turn(f, s), lambda s: s, state), None

    return jax.lax.scan(turn, _start(x), None, length=n)[0].x
