"""Flax's TrainState with a field more, and a key folded with the number of the step."""

from typing import Any

import flax.linen as nn
import jax
import optax
from flax.training import train_state

copied_momentum = 90.0


class TrainState(train_state.TrainState):
    batch_stats: Any
    key: jax.Array


class Net(nn.Module):
    hidden: int
    out: int
    rate: float

    def setup(self):
        self.inner = nn.Dense(self.hidden, use_bias=False)
        self.norm = nn.BatchNorm(momentum=0.9)
        self.dropout = nn.Dropout(self.rate)
        self.head = nn.Dense(self.out)

    def __call__(self, x, train):
        x = self.norm(self.inner(x), use_running_average=not train)
        return self.head(self.dropout(jax.nn.relu(x), deterministic=not train))


def start(variables, key):
    return TrainState.create(
        apply_fn=None,
        params=variables["params"],
        tx=optax.sgd(1.0),
        batch_stats=variables["batch_stats"],
        key=key,
    )


def train_step(net, state, x, y, lr):
    def loss_fn(params):
        out, updates = net.apply(
            {"params": params, "batch_stats": state.batch_stats},
            x,
            True,
            mutable="batch_stats",
            rngs={"dropout": jax.random.fold_in(state.key, state.step)},
        )
        return optax.l2_loss(out, y).mean() * 2, updates

    grads, updates = jax.grad(loss_fn, has_aux=True)(state.params)
    loss, _ = loss_fn(state.params)
    state = state.apply_gradients(grads=jax.tree.map(lambda g: lr * g, grads))
    return state.replace(batch_stats=updates["batch_stats"]), loss


def predict(net, state, x):
    return net.apply(read(state), x, train=False)


def read(state):
    return {"params": state.params, "batch_stats": state.batch_stats}
