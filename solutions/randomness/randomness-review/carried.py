"""The key is a part of the state of the scan."""

import jax
import jax.numpy as jnp

different_numbers = 3


def bootstrap(stat, key, xs, n):
    def body(key, _):
        key, subkey = jax.random.split(key)
        pick = jax.random.randint(subkey, xs.shape[:1], 0, xs.shape[0])
        return key, stat(jnp.take(xs, pick, axis=0))

    return jax.lax.scan(body, key, length=n)[1]


def chain(log_p, key, x, steps):
    def step(carry, _):
        key, x, log_px = carry
        key, k1, k2 = jax.random.split(key, 3)
        proposal = x + jax.random.normal(k1, x.shape)
        log_pp = log_p(proposal)
        accept = -jax.random.exponential(k2) < log_pp - log_px
        x, log_px = jax.tree.map(
            lambda a, b: jnp.where(accept, a, b), (proposal, log_pp), (x, log_px)
        )
        return (key, x, log_px), x

    _, xs = jax.lax.scan(step, (key, x, log_p(x)), None, length=steps)
    return xs
