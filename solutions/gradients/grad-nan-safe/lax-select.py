import jax
from jax import numpy as jnp
from jax.lax import full_like, select


def apply_where(f, mask, x, safe, fill):
    y = f(select(mask, x, full_like(x, safe)))
    return select(mask, y, full_like(y, fill))


def distances(xs):
    differences = jnp.expand_dims(xs, 1) - jnp.expand_dims(xs, 0)
    squares = jnp.sum(jnp.square(differences), axis=2)
    # Only the slope at 0 must be cut here: no weight is inside the root.
    rooted = jnp.sqrt(select(squares > 0, squares, jax.lax.stop_gradient(squares)))
    return select(squares > 0, rooted, jnp.zeros_like(squares))


def entropy(p):
    positive = p > 0
    terms = jax.scipy.special.entr(jnp.where(positive, p, 1.0))
    return jnp.where(positive, terms, 0.0).sum()
