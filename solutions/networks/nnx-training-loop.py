import jax
import optax
from flax import nnx

mean_loss = 2.0


def start(model, tx):
    metrics = nnx.MultiMetric(
        loss=nnx.metrics.Average("losses"),
        accuracy=nnx.metrics.Accuracy(),
    )
    return nnx.Optimizer(model, tx, wrt=nnx.Param), metrics


def loss_fn(model, x, y):
    scores = model(x)
    losses = optax.softmax_cross_entropy_with_integer_labels(scores, y)
    return losses.mean(), (losses, scores)


@nnx.jit
def train_step(model, optimizer, metrics, x, y):
    (loss, (losses, scores)), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, x, y)
    optimizer.update(model, grads)
    metrics.update(losses=losses, logits=scores, labels=y)
    return loss


def epoch(model, optimizer, metrics, batches):
    metrics.reset()
    for x, y in batches:
        train_step(model, optimizer, metrics, x, y)
    return metrics.compute()


def fit(graphdef, state, xs, ys):
    def body(state, batch):
        model, optimizer = nnx.merge(graphdef, state)
        (loss, _), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, *batch)
        optimizer.update(model, grads)
        return nnx.state((model, optimizer)), loss

    return jax.lax.scan(body, state, (xs, ys))
