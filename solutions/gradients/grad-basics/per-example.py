"""One example at a time under `vmap`; gradients without aux, the accuracy computed separately."""

import jax
import jax.numpy as jnp


def logit(params, x):
    return jnp.vdot(params["w"], x) + params["b"]


def example_loss(params, x, y):
    z = logit(params, x)
    return jnp.logaddexp(0.0, jnp.where(y > 0.5, -z, z))


def mean_loss(params, x, y):
    return jax.vmap(example_loss, in_axes=(None, 0, 0))(params, x, y).mean()


def accuracy(params, x, y):
    z = jax.vmap(lambda row: logit(params, row))(x)
    correct = jnp.equal(z > 0, y.astype(bool))
    return correct.sum() / y.shape[0]


def loss(params, x, y):
    return mean_loss(params, x, y), accuracy(params, x, y)


def loss_and_grads(params, x, y):
    value, grads = jax.value_and_grad(mean_loss)(params, x, y)
    return value, accuracy(params, x, y), grads


def input_grad(params, x, y):
    # the mean over examples divides by n
    return jax.vmap(jax.grad(example_loss, argnums=1), in_axes=(None, 0, 0))(params, x, y) / len(x)


def sgd_step(params, x, y, lr):
    grads = jax.grad(mean_loss)(params, x, y)
    leaves, treedef = jax.tree.flatten(params)
    stepped = [p - lr * g for p, g in zip(leaves, jax.tree.leaves(grads), strict=True)]
    return jax.tree.unflatten(treedef, stepped)
