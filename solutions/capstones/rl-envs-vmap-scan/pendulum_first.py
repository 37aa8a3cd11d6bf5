"""Each pendulum has its own life: a scan for one, mapped over all, with time as the first axis."""

import jax
from jax import lax, random
from jax import numpy as jnp

after_reset = [[0, 2], [0, 4]]


def step(reset, key, state, action):
    speed = state[1] + 0.1 * (10 * jnp.sin(state[0]) + action)
    angle = state[0] + 0.1 * speed
    done = angle**2 > 1.0
    moved = jnp.array([angle, speed])
    state = lax.cond(done, lambda: reset(key), lambda: moved)
    return state, 1 - angle**2 - action**2 / 100, done


def rollout(reset, policy, key, states, steps):
    def life(key, state):
        def body(carry, _):
            key, state = carry
            key, act, new = random.split(key, 3)
            result = step(reset, new, state, policy(act, state))
            return (key, result[0]), result

        return lax.scan(body, (key, state), None, length=steps)[1]

    return jax.vmap(life, out_axes=1)(random.split(key, states.shape[0]), states)


def returns(rewards, dones):
    def one(rewards, dones):
        def body(total, pair):
            total = total + pair[0]
            return total * (1 - pair[1]), total

        return lax.scan(body, jnp.float32(0), (rewards, dones))[1]

    return jax.vmap(one, in_axes=1, out_axes=1)(rewards, dones)
