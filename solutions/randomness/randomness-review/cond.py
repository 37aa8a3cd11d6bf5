"""`lax.cond` for the decision, `fori_loop` with an array of states."""

import jax
import jax.numpy as jnp

different_numbers = 3.0


def resample(key, xs):
    return xs[jax.random.randint(key, (len(xs),), 0, len(xs))]


def bootstrap(stat, key, xs, n):
    samples = jax.vmap(resample, in_axes=(0, None))(jax.random.split(key, n), xs)
    return jax.vmap(stat)(samples)


def chain(log_p, key, x, steps):
    keys = jax.random.split(key, steps)

    def body(i, carry):
        x, xs = carry
        first, second = jax.random.split(keys[i])
        proposal = x + jax.random.normal(first, x.shape)
        accept = jnp.log(jax.random.uniform(second)) < log_p(proposal) - log_p(x)
        x = jax.lax.cond(accept, lambda: proposal, lambda: x)
        return x, xs.at[i].set(x)

    return jax.lax.fori_loop(0, steps, body, (x, jnp.zeros((steps, *x.shape))))[1]
