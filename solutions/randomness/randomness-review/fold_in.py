"""`fold_in` of the number of the resample, and of the step."""

import jax
import jax.numpy as jnp

different_numbers = 3


def bootstrap(stat, key, xs, n):
    def one(i):
        u = jax.random.uniform(jax.random.fold_in(key, i), (len(xs),))
        return stat(xs[(u * len(xs)).astype(int)])

    return jax.vmap(one)(jnp.arange(n))


def chain(log_p, key, x, steps):
    def step(x, i):
        step_key = jax.random.fold_in(key, i)
        proposal = x + jax.random.normal(jax.random.fold_in(step_key, 0), x.shape)
        u = jax.random.uniform(jax.random.fold_in(step_key, 1))
        return (new := jnp.where(jnp.log(u) < log_p(proposal) - log_p(x), proposal, x)), new

    _, xs = jax.lax.scan(step, x, jnp.arange(steps))
    return xs
