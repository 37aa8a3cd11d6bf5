"""Metrics are sums of its own in an nnx object; the cross-entropy is written out."""

import functools

import jax
import jax.numpy as jnp
from flax import nnx

mean_loss = 2


class Sums(nnx.Module):
    def __init__(self):
        self.loss = nnx.Variable(jnp.zeros(()))
        self.correct = nnx.Variable(jnp.zeros((), jnp.int32))
        self.seen = nnx.Variable(jnp.zeros((), jnp.int32))


def start(model, tx):
    return nnx.Optimizer(model, tx, wrt=nnx.Param), Sums()


def batch_loss(x, y, model):
    scores = model(x)
    log_p = jax.nn.log_softmax(scores)
    return -jnp.take_along_axis(log_p, y[:, None], axis=1).mean(), scores


def update(model, optimizer, x, y):
    loss_fn = functools.partial(batch_loss, x, y)
    (loss, scores), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    optimizer.update(model, grads)
    return loss, scores


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    loss, scores = update(model, optimizer, x, y)
    metrics.loss[...] += loss * len(y)
    metrics.correct[...] += (scores.argmax(-1) == y).sum()
    metrics.seen[...] += len(y)
    return loss


def epoch(model, optimizer, metrics, batches):
    for variable in (metrics.loss, metrics.correct, metrics.seen):
        variable[...] = jnp.zeros_like(variable[...])
    for batch in batches:
        train_step(model, optimizer, metrics, *batch)
    seen = metrics.seen[...]
    return {"loss": metrics.loss[...] / seen, "accuracy": metrics.correct[...] / seen}


@functools.partial(jax.jit, static_argnums=0)
def fit(graphdef, state, xs, ys):
    def body(state, batch):
        objects = nnx.merge(graphdef, state)
        loss, _ = update(*objects, *batch)
        return nnx.split(objects)[1], loss

    return jax.lax.scan(body, state, (xs, ys))
