import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def choose(pred, f, g, x):
    return jax.lax.cond(pred, lambda args: f(*args), lambda args: g(*args), (x,))


def dispatch(i, fs, x):
    result = x
    for k, f in enumerate(fs):
        result = jax.lax.cond(i == k, f, lambda _, result=result: result, x)
    return result


def huber(r, delta):
    return jnp.piecewise(
        r,
        [jnp.abs(r) <= delta],
        [lambda r: r**2 / 2, lambda r: delta * (jnp.abs(r) - delta / 2)],
    )


def guarded_step(params, grads, lr):
    p, rebuild = ravel_pytree(params)
    g, _ = ravel_pytree(grads)
    return rebuild(jnp.where(jnp.isfinite(g).all(), p - lr * g, p))
