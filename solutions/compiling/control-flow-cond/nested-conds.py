import jax
import jax.numpy as jnp
from jax.lax import cond


def choose(pred, f, g, x):
    return cond(pred, lambda: f(x), lambda: g(x))


def dispatch(i, fs, x):
    if not fs:
        return x
    first, *others = fs
    return cond(i == 0, first, lambda x: dispatch(i - 1, others, x), x)


def huber(r, delta):
    def one(r):
        return cond(
            jnp.abs(r) <= delta, lambda r: r * r / 2, lambda r: delta * (jnp.abs(r) - delta / 2), r
        )

    return jnp.vectorize(one)(r)


def guarded_step(params, grads, lr):
    flat = jnp.concatenate([g.ravel() for g in jax.tree.leaves(grads)])

    def step(params):
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)

    return cond(jnp.all(jnp.isfinite(flat)), step, lambda params: params, params)
