"""All parameters in one vector, and the decay as another."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["vector", "average", "moments", "count", "decays", "config"],
    meta_fields=["unravel"],
)
@dataclasses.dataclass
class State:
    vector: jax.Array
    average: jax.Array
    moments: tuple
    count: jax.Array
    decays: jax.Array
    config: dict
    unravel: object


def start(weights, config):
    vector, unravel = ravel_pytree(weights)
    decays, _ = ravel_pytree(
        {name: jnp.full(leaf.shape, float(leaf.ndim == 2)) for name, leaf in weights.items()}
    )
    nothing = jnp.zeros_like(vector)
    count = jnp.zeros((), jnp.int32)
    return State(vector, vector, (nothing, nothing), count, decays, config, unravel)


def network(w, x):
    h = x @ w["embed.weight"].T + w["embed.bias"]
    z = jax.nn.standardize(h, axis=-1, epsilon=1e-5)
    z = z * w["block.norm.weight"] + w["block.norm.bias"]
    z = jax.nn.gelu(z @ w["block.up.weight"].T + w["block.up.bias"], False)
    h += z @ w["block.down.weight"].T + w["block.down.bias"]
    return h @ w["head.weight"].T + w["head.bias"]


def scores(state, x):
    return network(state.unravel(state.vector), x)


def averaged(state, x):
    return network(state.unravel(state.average), x)


def objective(vector, state, x, y):
    logits = network(state.unravel(vector), x)
    logs = logits - jax.nn.logsumexp(logits, axis=1, keepdims=True)
    smoothing = state.config["smoothing"]
    labels = jnp.where(jnp.arange(10) == y[:, None], 1 - 0.9 * smoothing, smoothing / 10)
    return -jnp.sum(labels * logs) / len(y)


def step(state, x, y):
    c, t = state.config, state.count + 1
    loss, pullback = jax.vjp(lambda vector: objective(vector, state, x, y), state.vector)
    (gradient,) = pullback(jnp.ones(()))
    norm = jnp.linalg.norm(gradient)
    gradient = gradient * jnp.where(norm > c["clip"], c["clip"] / norm, 1.0)
    m = 0.9 * state.moments[0] + 0.1 * gradient
    v = 0.99 * state.moments[1] + 0.01 * gradient**2
    direction = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.99**t)) + 1e-6)
    done = jnp.clip((state.count - c["warmup"]) / (c["steps"] - c["warmup"]), 0, 1)
    rate = c["rate"] * jnp.minimum(t / c["warmup"], (1 + jnp.cos(jnp.pi * done)) / 2)
    vector = state.vector - rate * (direction + c["decay"] * state.decays * state.vector)
    average = vector + c["average"] * (state.average - vector)
    new = dataclasses.replace(state, vector=vector, average=average, moments=(m, v), count=t)
    return new, loss, norm


compiled = jax.jit(step)


def fit(state, xs, ys):
    losses = []
    for batch in zip(xs, ys, strict=True):
        state, loss, _ = compiled(state, *batch)
        losses.append(loss)
    return jnp.array(losses), state


def evaluate(state, x, y):
    logits = averaged(state, x)
    logs = jax.nn.log_softmax(logits)
    return -jnp.mean(jax.vmap(lambda row, label: row[label])(logs, y)), jnp.mean(
        jnp.argmax(logits, 1) == y
    )
