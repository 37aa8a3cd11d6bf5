"""A Linen network with `batch_stats`, in a TrainState whose optax schedule belongs to its tx."""

import functools

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax import traverse_util
from flax.training import train_state

FEATURES, WIDTH, DEPTH, CLASSES = 64, 48, 2, 10
BATCH = 96
PEAK_RATE, WARM_UP, DECAY = 4e-3, 10, 0.1
MAX_NORM, SMOOTHING = 1.0, 0.1


class TorchBatchNorm(nn.Module):
    """As torch.nn.BatchNorm1d: the running variance is unbiased, the one in use is not."""

    momentum: float = 0.1
    epsilon: float = 1e-5

    @nn.compact
    def __call__(self, x, train):
        width = x.shape[-1]
        scale = self.param("scale", nn.initializers.ones, (width,))
        bias = self.param("bias", nn.initializers.zeros, (width,))
        ra_mean = self.variable("batch_stats", "mean", jnp.zeros, (width,))
        ra_var = self.variable("batch_stats", "var", jnp.ones, (width,))
        if train:
            mean, var = jnp.mean(x, axis=0), jnp.var(x, axis=0)
            if not self.is_initializing():
                ra_mean.value += self.momentum * (mean - ra_mean.value)
                ra_var.value += self.momentum * (jnp.var(x, axis=0, ddof=1) - ra_var.value)
        else:
            mean, var = ra_mean.value, ra_var.value
        return (x - mean) * jax.lax.rsqrt(var + self.epsilon) * scale + bias


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        width = x.shape[-1]
        h = TorchBatchNorm(name="norm")(x, train)
        h = nn.gelu(nn.Dense(2 * width, name="up")(h), approximate=False)
        h = nn.Dense(width, use_bias=False, name="down")(h)
        return x + self.param("scale", nn.initializers.constant(0.1), (width,)) * h


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(WIDTH, name="stem")(x)
        for i in range(DEPTH):
            x = Block(name=f"blocks_{i}")(x, train)
        x = nn.LayerNorm(epsilon=1e-5, name="norm")(x)
        return nn.Dense(CLASSES, name="head")(x)


class State(train_state.TrainState):
    batch_stats: dict


@functools.cache
def optimizer(steps):
    schedule = optax.join_schedules(
        [
            optax.linear_schedule(PEAK_RATE / WARM_UP, PEAK_RATE, WARM_UP - 1),
            optax.cosine_decay_schedule(PEAK_RATE, max(1, steps - WARM_UP)),
        ],
        [WARM_UP],
    )
    return optax.chain(
        optax.clip_by_global_norm(MAX_NORM),
        optax.adamw(
            schedule,
            weight_decay=DECAY,
            mask=lambda params: jax.tree.map(lambda p: p.ndim == 2, params),
        ),
    )


net = Net()
LEAVES = {"weight": "kernel", "running_mean": "mean", "running_var": "var"}


def from_torch(name, array):
    """-> the path in Linen's variables, the array as it lies there."""
    *path, leaf = name.replace("blocks.", "blocks_").split(".")
    if leaf == "weight" and path[-1] == "norm":
        leaf = "scale"
    leaf = LEAVES.get(leaf, leaf)
    collection = "batch_stats" if leaf in ("mean", "var") else "params"
    return (collection, *path, leaf), array.T if leaf == "kernel" else array


def to_torch(params, batch_stats=None):
    result = {}
    for (*path, leaf), array in traverse_util.flatten_dict(params).items():
        if leaf == "kernel":
            leaf, array = "weight", array.T
        elif leaf == "scale" and path[-1] == "norm":
            leaf = "weight"
        result[".".join([*path, leaf]).replace("blocks_", "blocks.")] = array
    for (*path, leaf), array in traverse_util.flatten_dict(batch_stats or {}).items():
        result[".".join([*path, f"running_{leaf}"]).replace("blocks_", "blocks.")] = array
    return result


def begin(weights, steps):
    flat = dict(from_torch(name, array) for name, array in weights.items())
    variables = traverse_util.unflatten_dict(flat)
    return State.create(
        apply_fn=net.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        tx=optimizer(steps),
    )


def export(run):
    return to_torch(run.params, run.batch_stats)


@jax.jit
def logits(run, x):
    return run.apply_fn({"params": run.params, "batch_stats": run.batch_stats}, x, train=False)


def loss_fn(params, run, x, y):
    variables = {"params": params, "batch_stats": run.batch_stats}
    scores, changed = run.apply_fn(variables, x, train=True, mutable=["batch_stats"])
    labels = optax.smooth_labels(nn.one_hot(y, CLASSES), SMOOTHING)
    return optax.softmax_cross_entropy(scores, labels).mean(), changed["batch_stats"]


@jax.jit
def gradients(run, x, y):
    grads, _ = jax.grad(loss_fn, has_aux=True)(run.params, run, x, y)
    return to_torch(grads)


@jax.jit
def step(run, x, y):
    (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(run.params, run, x, y)
    return run.apply_gradients(grads=grads, batch_stats=stats), loss


@jax.jit
def evaluate(run, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits(run, x), y).mean()


def fit(run, x, y, valid_x, valid_y, orders):
    losses, valid_losses = [], []
    best, best_loss = run, float("inf")
    for order in orders:
        for rows in jnp.split(order, list(range(BATCH, len(order), BATCH))):
            run, loss = step(run, x[rows], y[rows])
            losses.append(loss)
        valid_losses.append(evaluate(run, valid_x, valid_y))
        if valid_losses[-1] < best_loss:
            best, best_loss = run, valid_losses[-1]
    return best, jnp.array(losses), jnp.array(valid_losses)
