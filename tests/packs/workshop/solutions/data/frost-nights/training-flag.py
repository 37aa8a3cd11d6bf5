import jax
import jax.numpy as jnp


def forward(params, stats, x, training):
    if training:
        n = x.shape[0]
        mean = x.sum(axis=0) / n
        squares = ((x - mean) ** 2).sum(axis=0)
        used = mean, squares / n
        stats = dict(
            mean=stats["mean"] * 0.9 + mean * 0.1,
            var=stats["var"] * 0.9 + squares / (n - 1) * 0.1,
        )
    else:
        used = stats["mean"], stats["var"]
    return (x - used[0]) / (used[1] + 1e-5) ** 0.5 @ params["w"] + params["b"], stats


def scores(params, stats, x):
    return forward(params, stats, x, training=False)[0]


def loss_fn(params, stats, x, y):
    logits, stats = forward(params, stats, x, training=True)
    picked = (jax.nn.one_hot(y, logits.shape[1]) * logits).sum(1)
    return (jax.nn.logsumexp(logits, axis=1) - picked).mean(), stats


def train(params, stats, x, y, lr):
    count = len(x) // 40

    def step(i, loop):
        losses, params, stats = loop
        rows = [jax.lax.dynamic_slice_in_dim(a, i % count * 40, 40) for a in (x, y)]
        loss, back, stats = jax.vjp(lambda p: loss_fn(p, stats, *rows), params, has_aux=True)
        (grads,) = back(jnp.ones(()))
        return losses.at[i].set(loss), {k: params[k] - lr * grads[k] for k in params}, stats

    start = jnp.zeros(6 * count), params, stats
    losses, params, stats = jax.lax.fori_loop(0, 6 * count, step, start)
    return losses, (params, stats)
