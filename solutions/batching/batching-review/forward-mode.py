"""Forward-mode slopes, a mixture of `vmap` and `lax.map`, and `divmod` for the place in the table."""

import jax
import jax.numpy as jnp


def leave_one_out(fit, xs, ys):
    left_out = jnp.eye(len(ys), dtype=bool)
    fit_without = jax.jit(lambda out: fit(jnp.where(out, 0.0, 1.0), xs, ys))
    return jax.vmap(fit_without)(left_out)


def gradient_penalty(critic, params, xs):
    def one(params, x):
        slope = jax.jacfwd(lambda x: critic(params, x))(x)
        return (jnp.sum(slope * slope) ** 0.5 - 1.0) ** 2

    return jnp.mean(jax.vmap(one, in_axes=(None, 0))(params, xs), axis=0)


def search(train, starts, rates, xs, ys):
    def run(start, rate):
        return train(start, rate, xs, ys)

    def row(start):
        return jax.lax.map(lambda rate: run(start, rate), rates)

    params, losses = jax.vmap(row)(starts)
    finite = jnp.where(losses == losses, losses, jnp.inf)
    i, j = divmod(finite.argmin(), losses.shape[1])
    return losses, jax.tree.map(lambda p: p[i][j], params)
