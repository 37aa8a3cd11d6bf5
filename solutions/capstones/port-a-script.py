"""PyTorch's names are the keys of the parameters, so the network reads like the original's forward.

A run holds parameters, running statistics, Adam's state, and where the schedule is.
"""

import jax
import jax.numpy as jnp
import optax

BATCH, DEPTH = 96, 2
PEAK_RATE, WARM_UP, DECAY = 4e-3, 10, 0.1
MAX_NORM, SMOOTHING = 1.0, 0.1

tx = optax.chain(
    optax.clip_by_global_norm(MAX_NORM),
    optax.scale_by_adam(),
    optax.add_decayed_weights(DECAY, mask=lambda ps: {n: p.ndim == 2 for n, p in ps.items()}),
)


def begin(weights, steps):
    params = {n: v for n, v in weights.items() if "running" not in n}
    return {
        "params": params,
        "stats": {n: v for n, v in weights.items() if "running" in n},
        "adam": tx.init(params),
        "step": jnp.int32(0),
        "steps": jnp.int32(steps),
    }


def export(run):
    return {**run["params"], **run["stats"]}


def linear(params, name, x):
    y = x @ params[f"{name}.weight"].T
    return y + params[f"{name}.bias"] if f"{name}.bias" in params else y


def batch_norm(params, stats, name, x, train):
    mean, var = stats[f"{name}.running_mean"], stats[f"{name}.running_var"]
    if train:
        n = len(x)
        batch_mean, batch_var = x.mean(0), x.var(0)
        new = {
            f"{name}.running_mean": 0.9 * mean + 0.1 * batch_mean,
            f"{name}.running_var": 0.9 * var + 0.1 * batch_var * n / (n - 1),
        }
        mean, var = batch_mean, batch_var
    else:
        new = {}
    x = (x - mean) / jnp.sqrt(var + 1e-5)
    return x * params[f"{name}.weight"] + params[f"{name}.bias"], new


def layer_norm(params, name, x):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * params[f"{name}.weight"] + params[f"{name}.bias"]


def network(params, stats, x, train):
    x = linear(params, "stem", x)
    for i in range(DEPTH):
        h, new = batch_norm(params, stats, f"blocks.{i}.norm", x, train)
        stats = {**stats, **new}
        h = jax.nn.gelu(linear(params, f"blocks.{i}.up", h), approximate=False)
        x = x + params[f"blocks.{i}.scale"] * linear(params, f"blocks.{i}.down", h)
    return linear(params, "head", layer_norm(params, "norm", x)), stats


def training_loss(params, stats, x, y):
    scores, stats = network(params, stats, x, train=True)
    labels = optax.smooth_labels(jax.nn.one_hot(y, 10), SMOOTHING)
    return optax.softmax_cross_entropy(scores, labels).mean(), stats


@jax.jit
def logits(run, x):
    return network(run["params"], run["stats"], x, train=False)[0]


@jax.jit
def gradients(run, x, y):
    return jax.grad(training_loss, has_aux=True)(run["params"], run["stats"], x, y)[0]


def share(step, steps):
    done = (step - WARM_UP) / jnp.maximum(1, steps - WARM_UP)
    cosine = 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(done, 1.0)))
    return jnp.where(step < WARM_UP, (step + 1) / WARM_UP, cosine)


@jax.jit
def step(run, x, y):
    grad_fn = jax.value_and_grad(training_loss, has_aux=True)
    (loss, stats), grads = grad_fn(run["params"], run["stats"], x, y)
    updates, adam = tx.update(grads, run["adam"], run["params"])
    rate = PEAK_RATE * share(run["step"], run["steps"])
    params = jax.tree.map(lambda p, u: p - rate * u, run["params"], updates)
    new = {"params": params, "stats": stats, "adam": adam, "step": run["step"] + 1}
    return {**run, **new}, loss


@jax.jit
def evaluate(run, x, y):
    scores = logits(run, x)
    return optax.softmax_cross_entropy_with_integer_labels(scores, y).mean()


def fit(run, x, y, valid_x, valid_y, orders):
    losses, valid_losses, best = [], [], run
    for order in orders:
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            run, loss = step(run, x[rows], y[rows])
            losses.append(loss)
        loss = evaluate(run, valid_x, valid_y)
        if not valid_losses or loss < min(valid_losses):
            best = run
        valid_losses.append(loss)
    return best, jnp.stack(losses), jnp.stack(valid_losses)
