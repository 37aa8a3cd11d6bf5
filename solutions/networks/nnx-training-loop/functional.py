"""Everything is a pure function of states under jax.jit; objects are updated at the border."""

import functools

import jax
import jax.numpy as jnp
import optax
from flax import nnx

mean_loss = 2.0


def start(model, tx):
    totals = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), accuracy=nnx.metrics.Average("hit"))
    return nnx.Optimizer(model, tx, wrt=nnx.Param), totals


def step(graphdef, state, x, y):
    model, optimizer = nnx.merge(graphdef, state)
    model_def, params, rest = nnx.split(model, nnx.Param, ...)

    def loss_fn(params):
        model = nnx.merge(model_def, params, rest, copy=True)
        scores = model(x)
        losses = optax.losses.softmax_cross_entropy_with_integer_labels(scores, y)
        return jnp.mean(losses), (losses, scores, nnx.state(model, nnx.Not(nnx.Param)))

    (loss, (losses, scores, rest)), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
    nnx.update(model, rest)
    optimizer.update(model, grads)
    return nnx.state((model, optimizer)), loss, losses, jnp.argmax(scores, axis=1) == y


compiled = jax.jit(step, static_argnums=0)


def train_step(model, optimizer, metrics, x, y):
    state, loss, losses, hits = compiled(*nnx.split((model, optimizer)), x, y)
    nnx.update((model, optimizer), state)
    metrics.update(loss=losses, hit=hits)
    return loss


def epoch(model, optimizer, metrics, batches):
    metrics.reset()
    for x, y in batches:
        train_step(model, optimizer, metrics, x, y)
    return {name: float(value) for name, value in metrics.compute().items()}


def fit(graphdef, state, xs, ys):
    one = functools.partial(step, graphdef)
    return jax.lax.scan(lambda state, batch: one(state, *batch)[:2], state, (xs, ys))
