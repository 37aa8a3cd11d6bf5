import jax
import jax.numpy as jnp


def rollout(step, s, us):
    states = jnp.zeros((len(us) + 1, *s.shape)).at[0].set(s)

    def body(t, states):
        return states.at[t + 1].set(step(states[t], us[t]))

    return jax.lax.fori_loop(0, len(us), body, states)


def smooth(xs, a):
    def body(t, ys):
        return ys.at[:, t].set(a * ys[:, t - 1] + (1 - a) * xs[:, t])

    return jax.lax.fori_loop(1, xs.shape[1], body, xs)


def train(step, params, xs, ys):
    def body(i, carry):
        params, losses = carry
        params, loss = step(params, xs[i], ys[i])
        return params, losses.at[i].set(loss)

    return jax.lax.fori_loop(0, len(xs), body, (params, jnp.zeros(len(xs))))


def last_state(step, s, us, length):
    return rollout(step, s, us)[length]
