import jax.numpy as jnp
from jax import lax


def follow(state, sample):
    rising = jnp.maximum(jnp.abs(sample) - state["e"], 0)
    falling = jnp.maximum(state["e"] - jnp.abs(sample), 0)
    e = state["e"] + (1 - state["attack"]) * rising - (1 - state["release"]) * falling
    return state | {"e": e}, e


def envelope(x, attack, release):
    state = {"e": 0.0, "attack": attack, "release": release}
    return lax.scan(follow, state, x, unroll=5)[1]
