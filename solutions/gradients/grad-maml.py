import jax
import jax.numpy as jnp


def sgd_step(loss, params, batch, lr):
    grads = jax.grad(loss)(params, batch)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


# The steps depend on each other, so they are a scan; the tasks do not, so they are a vmap. Both are
# ordinary functions to value_and_grad, which goes through the inner gradients as well.
def adapt(loss, params, batches, lr):
    adapted, _ = jax.lax.scan(
        lambda p, batch: (sgd_step(loss, p, batch, lr), None), params, batches
    )
    return adapted


def meta_loss(loss, params, lr, tasks):
    def one_task(task):
        adapted = adapt(loss, params, task["support"], lr)
        return loss(adapted, task["query"])

    return jnp.mean(jax.vmap(one_task)(tasks))


def meta_grads(loss, params, lr, tasks):
    return jax.value_and_grad(meta_loss, argnums=(1, 2))(loss, params, lr, tasks)
