import jax
import jax.numpy as jnp

different_numbers = 3


def bootstrap(stat, key, xs, n):
    m = len(xs)

    # One resample is a function of one key, so n of them are a vmap over n keys.
    def one(key):
        return stat(xs[jax.random.randint(key, (m,), 0, m)])

    return jax.vmap(one)(jax.random.split(key, n))


def chain(log_p, key, x, steps):
    # A step has one key from the scan, and two draws: it splits its key for them.
    def step(x, key):
        proposal_key, accept_key = jax.random.split(key)
        proposal = x + jax.random.normal(proposal_key, x.shape)
        log_ratio = log_p(proposal) - log_p(x)
        accept = jnp.log(jax.random.uniform(accept_key)) < log_ratio
        x = jnp.where(accept, proposal, x)
        return x, x

    _, xs = jax.lax.scan(step, x, jax.random.split(key, steps))
    return xs
