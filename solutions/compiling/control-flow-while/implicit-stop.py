"""A jitted helper counts the turns with stopped gradients; a masked scan then takes them."""

import jax
import jax.numpy as jnp


def settle(f, x, tol, limit):
    x, turns, _ = jax.lax.while_loop(
        lambda s: s[2] & (s[1] < limit),
        lambda s: (lambda y: (y, s[1] + 1, jnp.abs(y - s[0]).max() > tol))(f(s[0])),
        (x, jnp.zeros((), int), jnp.ones((), bool)),
    )
    return x, turns


def repeat(f, x, n):
    return jax.lax.fori_loop(0, n, lambda *args: f(args[1]), x)


def settle_within(f, x, tol, n):
    def turn(carry, _):
        x, going = carry
        y = jax.lax.select(going, f(x), x)
        change = jax.lax.stop_gradient(jnp.abs(y - x).max())
        return (y, going & (change > tol)), None

    return jax.lax.scan(turn, (x, jnp.ones((), bool)), jnp.arange(n), unroll=2)[0][0]
