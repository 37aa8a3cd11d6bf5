"""The runs as one long batch; rows are really left out; `vjp` for the slope."""

import jax
import jax.numpy as jnp


def leave_one_out(fit, xs, ys):
    n = len(xs)
    others = jnp.arange(n - 1) + (jnp.arange(n - 1) >= jnp.arange(n)[:, None])

    def one(index):
        return fit(jnp.ones(n - 1), xs[index], ys[index])

    return jax.vmap(one)(others)


def gradient_penalty(critic, params, xs):
    def norm(x):
        y, pull = jax.vjp(lambda x: critic(params, x), x)
        return jnp.linalg.norm(pull(jnp.ones_like(y))[0])

    return ((jax.vmap(norm)(xs) - 1) ** 2).sum() / xs.shape[0]


def search(train, starts, rates, xs, ys):
    s, r = len(starts), len(rates)
    first = jnp.repeat(starts, r, axis=0)
    second = jnp.tile(rates, s)
    params, losses = jax.vmap(train, (0, 0, None, None))(first, second, xs, ys)
    order = jnp.argsort(losses)  # NaN comes last
    return losses.reshape(s, r), jax.tree.map(lambda p: p[order[0]], params)
