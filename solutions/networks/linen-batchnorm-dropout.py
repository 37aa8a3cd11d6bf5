"""Three kinds of state: params are trained, statistics are replaced, keys are split."""

import flax.linen as nn
import jax

copied_momentum = 90


class Net(nn.Module):
    hidden: int
    out: int
    rate: float

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(self.hidden, use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.Dropout(self.rate, deterministic=not train)(nn.relu(x))
        return nn.Dense(self.out)(x)


def start(variables, key):
    return variables["params"], variables["batch_stats"], key


def train_step(net, state, x, y, lr):
    params, stats, key = state
    key, key_now = jax.random.split(key)

    def loss(params):
        out, new = net.apply(
            {"params": params, "batch_stats": stats},
            x,
            train=True,
            mutable=["batch_stats"],
            rngs={"dropout": key_now},
        )
        return ((out - y) ** 2).mean(), new["batch_stats"]

    (value, new_stats), grads = jax.value_and_grad(loss, has_aux=True)(params)
    params = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    return (params, new_stats, key), value


def predict(net, state, x):
    return net.apply(read(state), x, train=False)


def read(state):
    params, stats, _ = state
    return {"params": params, "batch_stats": stats}
