import jax
import jax.numpy as jnp


def rollout(step, s, us):
    def body(s, u):
        s = step(s, u)
        return s, s

    return jnp.vstack((s, jax.lax.scan(body, s, us)[1]))


def smooth(xs, a):
    # y = f * y_before + g, and two such steps are one of the same form.
    def join(one, two):
        return one[0] * two[0], one[1] * two[0] + two[1]

    g = ((1 - a) * xs).at[:, 0].set(xs[:, 0])
    f = jnp.full_like(xs, a)
    return jax.lax.associative_scan(join, (f, g), axis=1)[1]


def train(step, params, xs, ys):
    return jax.lax.scan(lambda p, at: step(p, xs[at], ys[at]), params, jnp.arange(xs.shape[0]))


def last_state(step, s, us, length):
    states = rollout(step, s, us)
    return jnp.take(states, length, axis=0)
