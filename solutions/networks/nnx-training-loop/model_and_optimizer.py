"""The optimizer holds the model, as Flax had it before 0.11."""

import jax
import optax
from flax import nnx

mean_loss = 2.0


def start(model, tx):
    metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Accuracy())
    return nnx.ModelAndOptimizer(model, tx), metrics


def loss_fn(model, x, y):
    logits = model(x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, y)
    return loss.mean(), dict(loss=loss, logits=logits, labels=y)


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    (loss, aux), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x, y)
    optimizer.update(grads)
    metrics.update(**aux)
    return loss


def epoch(model, optimizer, metrics, batches):
    metrics.reset()
    for x, y in batches:
        train_step(model, optimizer, metrics, x, y)
    return metrics.compute()


@jax.jit
def fit(graphdef, state, xs, ys):
    def body(state, batch):
        model, optimizer = nnx.merge(graphdef, state)
        (loss, _), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, *batch)
        optimizer.update(grads)
        return nnx.state((model, optimizer)), loss

    return jax.lax.scan(body, state, (xs, ys))
