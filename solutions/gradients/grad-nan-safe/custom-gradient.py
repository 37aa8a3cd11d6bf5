import jax
import jax.numpy as jnp


@jax.custom_jvp
def root(square):
    return jnp.sqrt(square)


@root.defjvp
def root_jvp(primals, tangents):
    (square,), (tangent,) = primals, tangents
    y = root(square)
    slope = jnp.where(y > 0, 0.5 / jnp.where(y > 0, y, 1), 0)
    return y, slope * tangent


def distances(xs):
    return root(jnp.sum((xs[:, None] - xs) ** 2, -1))


@jax.custom_jvp
def plogp(p):
    return jnp.where(p > 0, p * jnp.log(p), 0.0)


plogp.defjvps(lambda t, y, p: t * jnp.where(p > 0, jnp.log(p) + 1, 0.0))


def entropy(p):
    return -sum(plogp(q) for q in p)


def apply_where(f, mask, x, safe, fill):
    # One scalar at a time.
    def one(args):
        chosen, t = args
        t = jnp.where(chosen, t, safe)
        return jnp.where(chosen, f(t), fill)

    return jax.lax.map(one, (mask.reshape(-1), x.reshape(-1))).reshape(x.shape)
