import jax
import jax.numpy as jnp


def loss(params, x, y):
    logits = x @ params["w"] + params["b"]
    losses = -y * jax.nn.log_sigmoid(logits) - (1 - y) * jax.nn.log_sigmoid(-logits)
    accuracy = jnp.mean((logits > 0) == (y > 0.5))
    return losses.mean(), accuracy


def loss_and_grads(params, x, y):
    (value, accuracy), grads = jax.value_and_grad(loss, has_aux=True)(params, x, y)
    return value, accuracy, grads


def input_grad(params, x, y):
    grads, _ = jax.grad(loss, argnums=1, has_aux=True)(params, x, y)
    return grads


def sgd_step(params, x, y, lr):
    _, _, grads = loss_and_grads(params, x, y)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)
