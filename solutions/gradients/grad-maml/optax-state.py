import jax
import jax.numpy as jnp
import optax


def adapt(loss, params, batches, lr):
    tx = optax.sgd(lr)

    def step(carry, batch):
        params, state = carry
        updates, state = tx.update(jax.grad(loss)(params, batch), state, params)
        return (optax.apply_updates(params, updates), state), None

    (params, _), _ = jax.lax.scan(jax.checkpoint(step), (params, tx.init(params)), batches)
    return params


def meta_loss(loss, params, lr, tasks):
    @jax.vmap
    def losses(task):
        return loss(adapt(loss, params, task["support"], lr), task["query"])

    return jnp.average(losses(tasks))


def meta_grads(loss, params, lr, tasks):
    def per_task(params, lr, task):
        return loss(adapt(loss, params, task["support"], lr), task["query"])

    each = jax.value_and_grad(per_task, (0, 1))
    values, grads = jax.vmap(each, (None, None, 0))(params, lr, tasks)
    return values.mean(), jax.tree.map(lambda g: g.mean(axis=0), grads)
