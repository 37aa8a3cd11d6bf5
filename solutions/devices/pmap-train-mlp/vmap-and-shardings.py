"""`jit` with shardings: one device's step under `vmap`, spread by `NamedSharding`."""

from functools import partial

import jax
import jax.numpy as jnp
import optax

SIZES = (64, 128, 64, 10)
BATCH = 64
tx = optax.sgd(0.05, momentum=0.9)

mesh = jax.sharding.Mesh(jax.local_devices(), ("devices",))
split = jax.NamedSharding(mesh, jax.P("devices"))


def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def init_params(key):
    def layer(key, n_in, n_out):
        w = jax.random.normal(key, (n_in, n_out)) * (2.0 / n_in) ** 0.5
        return {"w": w, "b": jnp.zeros(n_out)}

    keys = jax.random.split(key, len(SIZES) - 1)
    return jax.tree.map(layer, list(keys), list(SIZES[:-1]), list(SIZES[1:]))


def replicate(tree):
    copies = jax.tree.map(lambda leaf: jnp.stack([leaf] * mesh.size), tree)
    return jax.device_put(copies, split)


def unreplicate(tree):
    return jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), tree)


def shard(batch):
    return jax.device_put(batch.reshape(mesh.size, -1, *batch.shape[1:]), split)


@partial(jax.jit, in_shardings=split, out_shardings=split, donate_argnums=(0, 1))
@partial(jax.vmap, axis_name="data")
def train_step(params, opt_state, x, y):
    def loss_fn(params):
        scores = forward(params, x)
        right = jnp.take_along_axis(scores, y[:, None], axis=-1)[:, 0]
        return jnp.mean(jax.nn.logsumexp(scores, axis=-1) - right)

    loss, grads = jax.value_and_grad(loss_fn)(params)
    grads = jax.lax.pmean(grads, axis_name="data")
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, jax.lax.pmean(loss, axis_name="data")


def train(params, x, y, epochs):
    opt_state = replicate(tx.init(params))
    params = replicate(params)
    for _ in range(epochs):
        for i in range(len(x) // BATCH):
            rows = slice(i * BATCH, (i + 1) * BATCH)
            params, opt_state, _ = train_step(params, opt_state, shard(x[rows]), shard(y[rows]))
    return unreplicate(params)
