"""No optax: AdamW, clipping and schedule over one flat vector, in a dataclass that is a pytree."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

FEATURES, WIDTH, DEPTH, CLASSES = 64, 48, 2, 10
BATCH = 96
PEAK_RATE, WARM_UP, DECAY = 4e-3, 10, 0.1
MAX_NORM, SMOOTHING = 1.0, 0.1
BETA_1, BETA_2, EPS = 0.9, 0.999, 1e-8

SHAPES = {
    "stem.weight": (WIDTH, FEATURES),
    "stem.bias": (WIDTH,),
    "norm.weight": (WIDTH,),
    "norm.bias": (WIDTH,),
    "head.weight": (CLASSES, WIDTH),
    "head.bias": (CLASSES,),
}
for i in range(DEPTH):
    SHAPES |= {
        f"blocks.{i}.norm.weight": (WIDTH,),
        f"blocks.{i}.norm.bias": (WIDTH,),
        f"blocks.{i}.up.weight": (2 * WIDTH, WIDTH),
        f"blocks.{i}.up.bias": (2 * WIDTH,),
        f"blocks.{i}.down.weight": (WIDTH, 2 * WIDTH),
        f"blocks.{i}.scale": (WIDTH,),
    }

# 1 where a matrix has its numbers in the vector, so that they decay.
decays, unravel = ravel_pytree(
    {name: jnp.full(shape, float(len(shape) == 2)) for name, shape in SHAPES.items()}
)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Run:
    theta: jax.Array  # (p,) all parameters
    running: jax.Array  # (DEPTH, 2, WIDTH): means and variances
    first: jax.Array  # (p,) moments
    second: jax.Array
    step: jax.Array
    steps: jax.Array


def begin(weights, steps):
    theta, _ = ravel_pytree({name: weights[name] for name in SHAPES})
    running = jnp.array(
        [
            [weights[f"blocks.{i}.norm.running_{kind}"] for kind in ("mean", "var")]
            for i in range(DEPTH)
        ]
    )
    zeros = jnp.zeros_like(theta)
    return Run(theta, running, zeros, zeros, jnp.array(0), jnp.array(steps))


def export(run):
    state = unravel(run.theta)
    for i, (mean, var) in enumerate(run.running):
        state[f"blocks.{i}.norm.running_mean"] = mean
        state[f"blocks.{i}.norm.running_var"] = var
    return state


def affine(x, weight, bias=0.0):
    return jnp.einsum("ni,oi->no", x, weight) + bias


def gelu(x):
    return 0.5 * x * (1 + jax.lax.erf(x / math.sqrt(2)))


def normal(x, mean, var):
    return (x - mean) / jnp.sqrt(var + 1e-5)


def forward(theta, x, running=None):
    """Scores, and the statistics of the batch, which are in use if there are no running ones."""
    p, seen = unravel(theta), []
    x = affine(x, p["stem.weight"], p["stem.bias"])
    for i in range(DEPTH):
        name = f"blocks.{i}"
        seen.append(jnp.stack([x.mean(0), ((x - x.mean(0)) ** 2).mean(0)]))
        mean, var = seen[i] if running is None else running[i]
        h = normal(x, mean, var) * p[f"{name}.norm.weight"] + p[f"{name}.norm.bias"]
        h = gelu(affine(h, p[f"{name}.up.weight"], p[f"{name}.up.bias"]))
        x = x + p[f"{name}.scale"] * affine(h, p[f"{name}.down.weight"])
    x = normal(x, x.mean(1)[:, None], x.var(1)[:, None]) * p["norm.weight"] + p["norm.bias"]
    return affine(x, p["head.weight"], p["head.bias"]), jnp.stack(seen)


def cross_entropy(scores, y, smoothing=0.0):
    log_p = scores - jax.nn.logsumexp(scores, axis=1, keepdims=True)
    hit = log_p[jnp.arange(len(y)), y].mean()
    return -(1 - smoothing) * hit - smoothing * log_p.mean()


def training_loss(theta, x, y):
    scores, seen = forward(theta, x)
    return cross_entropy(scores, y, SMOOTHING), seen


def logits(run, x):
    return forward(run.theta, x, run.running)[0]


def gradients(run, x, y):
    return unravel(jax.grad(training_loss, has_aux=True)(run.theta, x, y)[0])


def rate(step, steps):
    warm = (step + 1) / WARM_UP
    done = jnp.minimum((step - WARM_UP) / jnp.maximum(1, steps - WARM_UP), 1)
    return PEAK_RATE * jnp.where(step < WARM_UP, warm, 0.5 * (1 + jnp.cos(math.pi * done)))


@jax.jit
def step(run, x, y):
    (loss, seen), g = jax.value_and_grad(training_loss, has_aux=True)(run.theta, x, y)
    g = g * jnp.minimum(1.0, MAX_NORM / (jnp.linalg.norm(g) + 1e-6))

    n, t, lr = len(x), run.step + 1, rate(run.step, run.steps)
    unbiased = jnp.array([1, n / (n - 1)])[:, None]
    running = 0.9 * run.running + 0.1 * seen * unbiased

    first = run.first + (1 - BETA_1) * (g - run.first)
    second = BETA_2 * run.second + (1 - BETA_2) * g * g
    denominator = jnp.sqrt(second) / jnp.sqrt(1 - BETA_2**t) + EPS
    theta = run.theta * (1 - lr * DECAY * decays)
    theta = theta - lr / (1 - BETA_1**t) * first / denominator
    return dataclasses.replace(
        run, theta=theta, running=running, first=first, second=second, step=t
    ), loss


def batches(order):
    return (order[start : start + BATCH] for start in range(0, len(order), BATCH))


def fit(run, x, y, valid_x, valid_y, orders):
    # The data and the log live on the host; only batches are sent.
    x, y, orders = np.asarray(x), np.asarray(y), np.asarray(orders)
    evaluate = jax.jit(lambda run: cross_entropy(logits(run, valid_x), valid_y))
    losses, valid_losses, kept = [], [], []
    for order in orders:
        for rows in batches(order):
            run, loss = step(run, x[rows], y[rows])
            losses.append(loss.item())
        kept.append(run)
        valid_losses.append(evaluate(run).item())
    return kept[np.argmin(valid_losses)], np.array(losses), np.array(valid_losses)
