"""The scan calls the compiled step; the merged objects write into the state of the trace."""

import jax
import optax
from flax import nnx

mean_loss = 2.0


def new_metrics():
    return nnx.MultiMetric(loss=nnx.metrics.Average(), accuracy=nnx.metrics.Accuracy())


def start(model, tx):
    return nnx.Optimizer(model=model, tx=tx, wrt=nnx.Param), new_metrics()


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    def loss_fn(model):
        logits = model(x)
        values = optax.softmax_cross_entropy_with_integer_labels(logits, y)
        return values.mean(), {"values": values, "logits": logits, "labels": y}

    (loss, aux), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    optimizer.update(model=model, grads=grads)
    metrics.update(**aux)
    return loss


def epoch(model, optimizer, metrics, batches):
    metrics.reset()
    for x, y in batches:
        train_step(model, optimizer, metrics, x, y)
    averages = metrics.compute()
    return {"loss": averages["loss"].item(), "accuracy": averages["accuracy"].item()}


def fit(graphdef, state, xs, ys):
    def body(state, batch):
        objects = nnx.merge(graphdef, state)
        loss = train_step(*objects, new_metrics(), *batch)
        return state, loss

    return jax.lax.scan(body, state, (xs, ys))
