"""`step` knows one pendulum; `vmap` makes it many, `scan` repeats it, and each splits the key."""

import jax
import jax.numpy as jnp

after_reset = [[0.0, 2.0], [0.0, 4.0]]


def step(reset, key, state, action):
    angle, speed = state
    speed = speed + 0.1 * (10 * jnp.sin(angle) + action)
    angle = angle + 0.1 * speed
    reward = 1 - angle**2 - 0.01 * action**2
    done = jnp.abs(angle) > 1
    return jnp.where(done, reset(key), jnp.stack([angle, speed])), reward, done


def rollout(reset, policy, key, states, steps):
    def one(key, state):
        first, second = jax.random.split(key)
        return step(reset, first, state, policy(second, state))

    def body(states, key):
        states, rewards, dones = jax.vmap(one)(jax.random.split(key, len(states)), states)
        return states, (states, rewards, dones)

    return jax.lax.scan(body, states, jax.random.split(key, steps))[1]


def returns(rewards, dones):
    def body(total, now):
        reward, done = now
        total = total + reward
        return jnp.where(done, 0, total), total

    return jax.lax.scan(body, jnp.zeros(rewards.shape[1]), (rewards, dones))[1]
