import jax
import jax.numpy as jnp
from jax import lax


def rollout(step, s, us):
    def body(carry, u):
        return step(carry, u), carry

    last, before = lax.scan(body, s, us)
    return jnp.append(before, last[None], axis=0)


def smooth(xs, a):
    def one(x):
        def body(y, v):
            y = y + (1 - a) * (v - y)
            return y, y

        return lax.scan(body, x[0], x)[1]

    return jax.vmap(one)(xs)


def train(step, params, xs, ys):
    def body(params, batch):
        params, loss = step(params, batch["x"], batch["y"])
        return params, loss

    return lax.scan(body, params, {"x": xs, "y": ys})


def last_state(step, s, us, length):
    def body(carry, u):
        s, left = carry
        s = lax.cond(left > 0, step, lambda s, u: s, s, u)
        return (s, left - 1), None

    (s, _), _ = lax.scan(body, (s, length), us)
    return s
