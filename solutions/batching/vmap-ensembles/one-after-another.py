"""`lax.map`: members one after another, in a program of fixed size."""

import jax
import jax.numpy as jnp


def init_members(init, key, n):
    return jax.lax.map(init, jax.random.split(key, n))


def train_members(train, members, rates, xs, ys):
    return jax.lax.map(lambda one: train(one[0], one[1], xs, ys), (members, rates))


def predict(apply, members, xs):
    ys = jax.lax.map(lambda one: apply(one, xs), members, batch_size=2)
    return jnp.mean(ys, 0), jnp.std(ys, 0)


def best(members, losses):
    def better(carry, one):
        params, loss = one
        lower = loss < carry[1]
        kept = jax.tree.map(lambda new, old: jnp.where(lower, new, old), params, carry[0])
        return (kept, jnp.minimum(loss, carry[1])), None

    first = jax.tree.map(lambda p: p[0], (members, losses))
    return jax.lax.scan(better, first, (members, losses))[0][0]
