from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

after_reset = [[0, 2], [0, 4]]


class Result(NamedTuple):
    state: jax.Array
    reward: jax.Array
    done: jax.Array


def physics(state, action):
    speed = state[1] + 0.1 * (10 * jnp.sin(state[0]) + action)
    return jnp.array([state[0] + 0.1 * speed, speed])


def step(reset, key, state, action):
    new = physics(state, action)
    fallen = (new[0] > 1) | (new[0] < -1)
    reward = 1 - new[0] ** 2 - 0.01 * jnp.square(action)
    return Result(lax.cond(fallen, reset, lambda _: new, key), reward, fallen)


def rollout(reset, policy, key, states, steps):
    reset_keys, policy_keys = jax.random.split(key, (2, steps, states.shape[0]))

    def body(states, keys):
        for_reset, for_policy = keys
        actions = jax.vmap(policy)(for_policy, states)
        result = jax.vmap(step, in_axes=(None, 0, 0, 0))(reset, for_reset, states, actions)
        return result.state, tuple(result)

    _, history = lax.scan(body, states, (reset_keys, policy_keys), length=steps)
    return history


def returns(rewards, dones):
    begins = jnp.concatenate([jnp.ones_like(dones[:1]), dones[:-1]])

    def join(left, right):
        (total, begun), (more, new) = left, right
        return jnp.where(new, more, total + more), begun | new

    return lax.associative_scan(join, (rewards, begins))[0]
