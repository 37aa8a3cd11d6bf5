"""`jax.random.choice` for the rows, `lax.map` over the keys; a table of keys for the chain."""

import jax
import jax.numpy as jnp

different_numbers = 3


def bootstrap(stat, key, xs, n):
    def one(k):
        return stat(jax.random.choice(k, xs, (xs.shape[0],)))

    return jax.lax.map(one, jax.random.split(key, n))


def chain(log_p, key, x, steps):
    def step(x, keys):
        proposal = x + jax.random.normal(keys[0], x.shape)
        ratio = jnp.exp(jnp.minimum(log_p(proposal) - log_p(x), 0))
        accept = jax.random.uniform(keys[1]) < ratio
        x = jax.lax.select(accept, proposal, x)
        return x, x

    return jax.lax.scan(step, x, jax.random.split(key, (steps, 2)))[1]
