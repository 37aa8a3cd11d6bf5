import functools

import jax
import jax.numpy as jnp
import optax

SIZES = (64, 128, 64, 10)
BATCH = 64
tx = optax.sgd(0.05, momentum=0.9)


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def init_params(key):
    keys = jax.random.split(key, len(SIZES) - 1)
    return [
        {"w": jax.random.normal(k, (i, o)) * (2 / i) ** 0.5, "b": jnp.zeros(o)}
        for k, i, o in zip(keys, SIZES, SIZES[1:])
    ]


def replicate(tree):
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * jax.local_device_count()), tree)


def unreplicate(tree):
    # leaf[0] alone would stay on all devices, and could not be replicated again.
    return jax.device_get(jax.tree.map(lambda leaf: leaf[0], tree))


def shard(batch):
    return batch.reshape((jax.local_device_count(), -1) + batch.shape[1:])


@functools.partial(jax.pmap, axis_name="data")
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        scores = forward(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    loss, grads = jax.lax.pmean((loss, grads), axis_name="data")
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def train(params, x, y, epochs):
    opt_state = replicate(tx.init(params))
    params = replicate(params)
    for _ in range(epochs):
        for start in range(0, len(x) - BATCH + 1, BATCH):
            batch = slice(start, start + BATCH)
            params, opt_state, _ = train_step(params, opt_state, shard(x[batch]), shard(y[batch]))
    return unreplicate(params)
