import jax
import jax.numpy as jnp


def apply_where(f, mask, x, safe, fill):
    def one(chosen, t):
        return jax.lax.cond(chosen, f, lambda t: jnp.full_like(t, fill), t)

    ys = jax.vmap(one)(mask.ravel(), x.ravel())
    return ys.reshape(x.shape)


def length(v):
    return jax.lax.cond((v == 0).all(), lambda v: 0.0, jnp.linalg.norm, v)


def distances(xs):
    return jax.vmap(lambda a: jax.vmap(lambda b: length(a - b))(xs))(xs)


def entropy(p):
    terms = jax.vmap(lambda q: jax.lax.cond(q > 0, lambda q: -q * jnp.log(q), lambda q: 0.0, q))
    return terms(p).sum()
