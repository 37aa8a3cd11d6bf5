"""Everything under `jit`, with the brought functions and the count as static arguments."""

from functools import partial

import jax


@partial(jax.jit, static_argnums=(0, 2))
def init_members(init, key, n):
    return jax.vmap(init, axis_size=n)(jax.random.split(key, n))


@partial(jax.jit, static_argnums=0)
def train_members(train, members, rates, xs, ys):
    in_axes = ({name: 0 for name in members}, 0, None, None)
    params, losses = jax.vmap(train, in_axes)(members, rates, xs, ys)
    return params, losses


@partial(jax.jit, static_argnums=0)
def predict(apply, members, xs):
    ys = jax.vmap(apply, in_axes=[0, None])(members, xs)
    return ys.mean(0), ys.var(0) ** 0.5


@jax.jit
def best(members, losses):
    order = losses.argsort()
    return {name: array[order[0]] for name, array in members.items()}
