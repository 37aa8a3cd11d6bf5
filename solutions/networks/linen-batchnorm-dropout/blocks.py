"""A block as a module of its own, everything mutable but the parameters, a dict as the state."""

import flax.linen as nn
import jax
import optax

copied_momentum = 0.1 * 0 + 0.9 * 100


class Block(nn.Module):
    features: int
    rate: float
    train: bool

    @nn.compact
    def __call__(self, x):
        layers = [
            nn.Dense(self.features, use_bias=False),
            nn.BatchNorm(not self.train, momentum=1 - 0.1),
            nn.relu,
            nn.Dropout(self.rate, deterministic=not self.train),
        ]
        return nn.Sequential(layers)(x)


class Net(nn.Module):
    hidden: int
    out: int
    rate: float

    @nn.compact
    def __call__(self, x, train):
        return nn.Dense(self.out)(Block(self.hidden, self.rate, train)(x))


def start(variables, key):
    return {"variables": dict(variables), "key": key, "step": 0}


def train_step(net, state, x, y, lr):
    params, rest = state["variables"]["params"], {"batch_stats": state["variables"]["batch_stats"]}
    key = jax.random.fold_in(state["key"], state["step"])

    def loss(params, rest):
        variables = {**rest, "params": params}
        out, rest = net.apply(
            variables, x, train=True, rngs={"dropout": key}, mutable=nn.DenyList("params")
        )
        return optax.squared_error(out, y).mean(), rest

    (value, rest), grads = jax.value_and_grad(loss, argnums=0, has_aux=True)(params, rest)
    tx = optax.sgd(lr)
    updates, _ = tx.update(grads, tx.init(params))
    variables = {"params": optax.apply_updates(params, updates), **rest}
    return {"variables": variables, "key": state["key"], "step": state["step"] + 1}, value


def predict(net, state, x):
    return net.apply(state["variables"], x, train=False, mutable=False)


def read(state):
    return state["variables"]
