"""The physics take any number of pendulums; only what comes from outside is mapped."""

import jax
import jax.numpy as jnp

after_reset = [[0.0, 2.0], [0.0, 4.0]]


def move(states, actions):
    speed = states[..., 1] + jnp.sin(states[..., 0]) + 0.1 * actions
    angle = states[..., 0] + 0.1 * speed
    rewards = 1 - angle**2 - 0.01 * actions**2
    return jnp.stack([angle, speed], axis=-1), rewards, jnp.abs(angle) > 1


def choose(dones, fresh, states):
    return jnp.where(dones[..., None], fresh, states)


def step(reset, key, state, action):
    moved, reward, done = move(state, action)
    return choose(done, reset(key), moved), reward, done


def rollout(reset, policy, key, states, steps):
    n = states.shape[0]
    keys = jax.random.split(key, (steps, 2, n))

    def body(states, keys):
        actions = jax.vmap(policy)(keys[0], states)
        moved, rewards, dones = move(states, actions)
        states = choose(dones, jax.vmap(reset)(keys[1]), moved)
        return states, {"states": states, "rewards": rewards, "dones": dones}

    _, history = jax.lax.scan(body, states, keys)
    return history["states"], history["rewards"], history["dones"]


def returns(rewards, dones):
    total, totals = 0 * rewards[0], []
    for reward, done in zip(rewards, dones, strict=True):
        totals.append(total + reward)
        total = jnp.where(done, 0.0, totals[-1])
    return jnp.stack(totals)
