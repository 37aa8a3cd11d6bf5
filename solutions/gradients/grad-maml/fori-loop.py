import jax
import jax.numpy as jnp
from jax import lax


def adapt(loss, params, batches, lr):
    def turn(t, params):
        batch = jax.tree.map(lambda b: lax.dynamic_index_in_dim(b, t, keepdims=False), batches)
        grads = jax.grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads)

    steps = jax.tree.leaves(batches)[0].shape[0]
    return lax.fori_loop(0, steps, turn, params)


def meta_loss(loss, params, lr, tasks):
    def query_loss(params, support, query):
        return loss(adapt(loss, params, support, lr), query)

    mapped = jax.vmap(query_loss, in_axes=(None, 0, 0))
    return mapped(params, tasks["support"], tasks["query"]).mean()


def meta_grads(loss, params, lr, tasks):
    def outer(trained):
        params, lr = trained
        return meta_loss(loss, params, lr, tasks)

    return jax.value_and_grad(outer)((params, lr))
