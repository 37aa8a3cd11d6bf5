"""Linen modules, and the TrainState of Flax with an average beside the parameters."""

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import struct
from flax.training import train_state


class Net(nn.Module):
    width: int
    inner: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(self.width, name="embed")(x)
        z = nn.LayerNorm(epsilon=1e-5, use_fast_variance=False, name="norm")(h)
        z = nn.gelu(nn.Dense(self.inner, name="up")(z), approximate=False)
        return nn.Dense(10, name="head")(h + nn.Dense(self.width, name="down")(z))


class Averaging(train_state.TrainState):
    average: dict
    share: float
    smoothing: float = struct.field(default=0.0)


def dense(weights, name):
    return {"kernel": weights[f"{name}.weight"].T, "bias": weights[f"{name}.bias"]}


def schedule(config):
    warmup, rate = config["warmup"], config["rate"]
    rising = optax.linear_schedule(rate / warmup, rate, max(1, warmup - 1))
    falling = optax.cosine_decay_schedule(rate, config["steps"] - warmup)
    return optax.join_schedules([rising, falling], [warmup])


def matrices(params):
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)


def start(weights, config):
    params = {
        "embed": dense(weights, "embed"),
        "norm": {"scale": weights["block.norm.weight"], "bias": weights["block.norm.bias"]},
        "up": dense(weights, "block.up"),
        "down": dense(weights, "block.down"),
        "head": dense(weights, "head"),
    }
    adamw = optax.adamw(
        schedule(config), b2=0.99, eps=1e-6, weight_decay=config["decay"], mask=matrices
    )
    inner, width = weights["block.up.weight"].shape
    return Averaging.create(
        apply_fn=Net(width, inner).apply,
        params=params,
        tx=optax.chain(optax.clip_by_global_norm(config["clip"]), adamw),
        average=params,
        share=config["average"],
        smoothing=config["smoothing"],
    )


def scores(state, x):
    return state.apply_fn({"params": state.params}, x)


def averaged(state, x):
    return state.apply_fn({"params": state.average}, x)


def step(state, x, y):
    def loss(params):
        logits = state.apply_fn({"params": params}, x)
        labels = jax.nn.one_hot(y, 10) * (1 - state.smoothing) + state.smoothing / 10
        return optax.softmax_cross_entropy(logits, labels).mean()

    value, grads = jax.value_and_grad(loss)(state.params)
    state = state.apply_gradients(grads=grads)
    average = optax.incremental_update(state.params, state.average, 1 - state.share)
    return state.replace(average=average), value, optax.global_norm(grads)


@jax.jit
def fit(state, xs, ys):
    def body(state, batch):
        state, value, _ = step(state, *batch)
        return state, value

    state, losses = jax.lax.scan(body, state, (xs, ys))
    return losses, state


def evaluate(state, x, y):
    logits = averaged(state, x)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, y)
    return losses.mean(), jnp.mean(logits.argmax(-1) == y)
