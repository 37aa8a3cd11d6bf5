"""The scan carries the objects themselves, and the metrics are a dict of two averages."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

mean_loss = 2.0


def start(model, tx):
    metrics = {"loss": nnx.metrics.Average("values"), "accuracy": nnx.metrics.Accuracy()}
    return nnx.Optimizer(model, tx, wrt=nnx.Param), metrics


def update(model, optimizer, x, y):
    def loss_fn(model):
        scores = model(x)
        one_hot = jax.nn.one_hot(y, scores.shape[-1])
        values = optax.softmax_cross_entropy(scores, one_hot)
        return values.sum() / len(values), (values, scores)

    grads, (values, scores) = nnx.grad(loss_fn, has_aux=True)(model)
    optimizer.update(model, grads)
    return values, scores


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    values, scores = update(model, optimizer, x, y)
    metrics["loss"].update(values=values)
    metrics["accuracy"].update(logits=scores, labels=y)
    return jnp.mean(values)


def epoch(model, optimizer, metrics, batches):
    for metric in metrics.values():
        metric.reset()
    for x, y in batches:
        train_step(model, optimizer, metrics, x, y)
    return {name: metric.compute() for name, metric in metrics.items()}


def fit(graphdef, state, xs, ys):
    def body(objects, batch):
        values, _ = update(*objects, *batch)
        return objects, values.mean()

    objects, losses = jax.lax.scan(body, nnx.merge(graphdef, state), (xs, ys))
    return nnx.split(objects)[1], losses
