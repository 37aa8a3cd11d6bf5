import jax
import jax.numpy as jnp


@jax.jit
def envelope(x, attack, release):
    level = jnp.abs(x)

    def turn(t, state):
        e, kept = state
        share = jax.lax.cond(level[t] > e, lambda: 1 - attack, lambda: 1 - release)
        e = e + share * (level[t] - e)
        return e, kept.at[t].set(e)

    _, kept = jax.lax.fori_loop(0, len(x), turn, (0.0, jnp.zeros_like(x)))
    return kept
