"""All picks in one draw, and all random numbers of the chain before it begins."""

import jax
import jax.numpy as jnp

different_numbers = 1 + 1 + 1


def bootstrap(stat, key, xs, n):
    picks = jax.random.randint(key, (n, len(xs)), 0, len(xs))
    return jax.vmap(lambda pick: stat(xs[pick]))(picks)


def chain(log_p, key, x, steps):
    noise_key, uniform_key = jax.random.split(key)
    noise = jax.random.normal(noise_key, (steps, *x.shape))
    log_u = jnp.log(jax.random.uniform(uniform_key, (steps,)))

    def step(x, draws):
        noise, log_u = draws
        x = jnp.where(log_u < log_p(x + noise) - log_p(x), x + noise, x)
        return x, x

    return jax.lax.scan(step, x, (noise, log_u))[1]
