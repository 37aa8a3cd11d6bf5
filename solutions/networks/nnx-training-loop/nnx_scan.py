"""fit is a compiled function around nnx.scan; the step gives its sums to the metrics."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

mean_loss = 2.0


class Metrics(nnx.Module):
    def __init__(self):
        self.sums = nnx.metrics.MetricState(jnp.zeros(3))

    def add(self, *sums):
        self.sums[...] = self.sums[...] + jnp.stack([jnp.asarray(s, jnp.float32) for s in sums])

    def averages(self):
        loss, correct, n = self.sums[...]
        return {"loss": loss / n, "accuracy": correct / n}


def start(model, tx):
    return nnx.Optimizer(model, tx, wrt=nnx.Param), Metrics()


def loss_fn(model, x, y):
    scores = model(x)
    loss = (jax.nn.logsumexp(scores, axis=1) - scores[jnp.arange(len(y)), y]).sum()
    return loss / len(y), (scores.argmax(axis=1) == y).sum()


value_and_grad = nnx.value_and_grad(loss_fn, argnums=nnx.DiffState(0, nnx.Param), has_aux=True)


@nnx.jit(donate_argnames="optimizer")
def train_step(model, optimizer, metrics, x, y):
    (loss, correct), grads = value_and_grad(model, x, y)
    optimizer.update(model, grads)
    metrics.add(loss * len(y), correct, len(y))
    return loss


def epoch(model, optimizer, metrics, batches):
    metrics.sums[...] = jnp.zeros(3)
    [train_step(model, optimizer, metrics, *batch) for batch in batches]
    return metrics.averages()


@jax.jit
def fit(graphdef, state, xs, ys):
    @nnx.scan(in_axes=(nnx.Carry, 0, 0), out_axes=(nnx.Carry, 0))
    def steps(objects, x, y):
        model, optimizer = objects
        (loss, _), grads = value_and_grad(model, x, y)
        optimizer.update(model, grads)
        return objects, loss

    objects, losses = steps(nnx.merge(graphdef, state), xs, ys)
    return nnx.state(objects), losses
