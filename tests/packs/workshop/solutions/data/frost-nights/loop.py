import jax
import jax.numpy as jnp
import optax


def scores(params, stats, x):
    z = (x - stats["mean"]) * jax.lax.rsqrt(stats["var"] + 1e-5)
    return jnp.einsum("nd,dk->nk", z, params["w"]) + params["b"]


def loss_fn(params, stats, x, y):
    here = {"mean": jnp.mean(x, axis=0), "var": jnp.var(x, axis=0)}
    logs = jax.nn.log_softmax(scores(params, here, x))
    loss = -jnp.take_along_axis(logs, y[:, None], axis=1).mean()
    here["var"] = here["var"] * len(x) / (len(x) - 1)
    return loss, jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, stats, here)


def train(params, stats, x, y, lr):
    tx = optax.sgd(lr)
    state = tx.init(params)

    @jax.jit
    def step(params, state, stats, x, y):
        (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, stats, x, y)
        updates, state = tx.update(grads, state)
        return optax.apply_updates(params, updates), state, stats, loss

    losses = []
    for _ in range(6):
        for i in range(0, len(x), 40):
            params, state, stats, loss = step(params, state, stats, x[i : i + 40], y[i : i + 40])
            losses.append(loss)
    return losses, (params, stats)
