"""Keys are addresses, (step, pendulum, purpose); a fori_loop writes into arrays made before."""

import functools

import jax
import jax.numpy as jnp

after_reset = [[0.0, 2.0], [0.0, 4.0]]


def step(reset, key, state, action):
    angle, speed = state[0], state[1]
    speed += 0.1 * (10 * jnp.sin(angle) + action)
    angle += 0.1 * speed
    done = jnp.logical_or(angle > 1, angle < -1)
    new = jax.lax.select(done, reset(key), jnp.stack((angle, speed)))
    return new, 1 - jnp.square(angle) - 0.01 * jnp.square(action), done


@functools.partial(jax.jit, static_argnums=(0, 1, 4))
def rollout(reset, policy, key, states, steps):
    def one(i, pendulum, state):
        mine = jax.random.fold_in(jax.random.fold_in(key, i), pendulum)
        action = policy(jax.random.fold_in(mine, 0), state)
        return step(reset, jax.random.fold_in(mine, 1), state, action)

    n = len(states)

    def body(carry, i):
        now = jax.vmap(one, in_axes=(None, 0, 0))(i, jnp.arange(n), carry)
        return now[0], now

    return jax.lax.scan(body, states, jnp.arange(steps))[1]


def returns(rewards, dones):
    # The running sum of all, less its value at the end of the last episode.
    def add(left, right):
        return jnp.where(right[1], right[0], left[0] + right[0]), left[1] | right[1]

    begins = jnp.concatenate([jnp.ones_like(dones[:1]), dones[:-1]])
    return jax.lax.associative_scan(add, (rewards, begins))[0]
