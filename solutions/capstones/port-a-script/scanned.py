"""Scans over stacked blocks, full batches and epochs; the best run is in the carry."""

import math

import jax
import jax.numpy as jnp
import optax
from jax import lax

DEPTH, CLASSES, BATCH = 2, 10, 96
PEAK_RATE, WARM_UP, DECAY = 4e-3, 10, 0.1
MAX_NORM, SMOOTHING = 1.0, 0.1


def decaying(params):
    """Blocks are stacked, so an array's ndim says nothing; its name does."""

    def is_matrix(path, _):
        return path[-1].key in {"stem.weight", "up.weight", "down.weight", "head.weight"}

    return jax.tree_util.tree_map_with_path(is_matrix, params)


tx = optax.chain(
    optax.clip_by_global_norm(MAX_NORM),
    optax.adamw(1.0, weight_decay=DECAY, mask=decaying),
)


def share(step, steps):
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    done = (step - WARM_UP) / max(1, steps - WARM_UP)
    return 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


def stacked(weights):
    names = [name.removeprefix("blocks.0.") for name in weights if name.startswith("blocks.0.")]
    blocks = {n: jnp.stack([weights[f"blocks.{i}.{n}"] for i in range(DEPTH)]) for n in names}
    outer = {n: v for n, v in weights.items() if not n.startswith("blocks.")}
    return blocks, outer


def unstacked(blocks, outer):
    return outer | {f"blocks.{i}.{n}": v[i] for n, v in blocks.items() for i in range(DEPTH)}


def begin(weights, steps):
    blocks, outer = stacked(weights)
    stats = {n: blocks.pop(n) for n in ("norm.running_mean", "norm.running_var")}
    params = {"blocks": blocks, "outer": outer}
    # The last rate is 0; an index beyond the end is clamped to it.
    table = [PEAK_RATE * share(i, steps) for i in range(max(steps, WARM_UP + 1) + 1)]
    return params, stats, tx.init(params), jnp.zeros((), int), jnp.array(table)


def export(run):
    params, stats, *_ = run
    return unstacked(params["blocks"] | stats, params["outer"])


def standardize(x, mean, var, weight, bias):
    return (x - mean) * lax.rsqrt(var + 1e-5) * weight + bias


def network(params, stats, x, train):
    outer = params["outer"]

    def block(x, layer):
        p, old = layer
        new = old
        mean, var = old["norm.running_mean"], old["norm.running_var"]
        if train:
            mean, var = x.mean(0), x.var(0)
            unbiased = {"norm.running_mean": mean, "norm.running_var": x.var(0, ddof=1)}
            new = optax.incremental_update(unbiased, old, 0.1)
        h = standardize(x, mean, var, p["norm.weight"], p["norm.bias"])
        h = jax.nn.gelu(h @ p["up.weight"].T + p["up.bias"], approximate=False)
        return x + p["scale"] * (h @ p["down.weight"].T), new

    x = x @ outer["stem.weight"].T + outer["stem.bias"]
    x, stats = lax.scan(block, x, (params["blocks"], stats))
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    x = standardize(x, mean, var, outer["norm.weight"], outer["norm.bias"])
    return x @ outer["head.weight"].T + outer["head.bias"], stats


@jax.jit
def logits(run, x):
    params, stats, *_ = run
    return network(params, stats, x, train=False)[0]


def training_loss(params, stats, x, y):
    scores, stats = network(params, stats, x, train=True)
    soft = jnp.where(jnp.arange(CLASSES) == y[:, None], 1 - SMOOTHING, 0) + SMOOTHING / CLASSES
    return -jnp.sum(soft * jax.nn.log_softmax(scores), axis=-1).mean(), stats


@jax.jit
def gradients(run, x, y):
    params, stats, *_ = run
    grads, _ = jax.grad(training_loss, has_aux=True)(params, stats, x, y)
    return unstacked(**grads)


@jax.jit
def step(run, x, y):
    params, stats, opt_state, count, table = run
    (loss, stats), grads = jax.value_and_grad(training_loss, has_aux=True)(params, stats, x, y)
    updates, opt_state = tx.update(grads, opt_state, params)
    rate = table.at[count].get(mode="clip")
    params = optax.apply_updates(params, optax.tree.scale(rate, updates))
    return (params, stats, opt_state, count + 1, table), loss


@jax.jit
def fit(run, x, y, valid_x, valid_y, orders):
    full = orders.shape[1] // BATCH * BATCH

    def on_rows(run, rows):
        return step(run, x[rows], y[rows])

    def epoch(carry, order):
        run, best, best_loss = carry
        run, losses = lax.scan(on_rows, run, order[:full].reshape(-1, BATCH))
        if full < len(order):
            run, loss = on_rows(run, order[full:])
            losses = jnp.append(losses, loss)
        scores = logits(run, valid_x)
        valid = optax.softmax_cross_entropy_with_integer_labels(scores, valid_y).mean()
        best = jax.tree.map(lambda new, old: jnp.where(valid < best_loss, new, old), run, best)
        return (run, best, jnp.minimum(valid, best_loss)), (losses, valid)

    (_, best, _), (losses, valid) = lax.scan(epoch, (run, run, jnp.inf), orders)
    return best, losses.ravel(), valid
