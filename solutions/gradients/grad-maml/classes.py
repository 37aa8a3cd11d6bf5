from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Learner(NamedTuple):
    params: Any
    lr: Any

    def step(self, loss, batch):
        grads = jax.grad(loss)(self.params, batch)
        flat, tree = jax.tree.flatten(self.params)
        new = [p - self.lr * g for p, g in zip(flat, jax.tree.leaves(grads), strict=True)]
        return self._replace(params=tree.unflatten(new))

    def train(self, loss, batches):
        return jax.lax.scan(lambda me, batch: (me.step(loss, batch), ()), self, batches)[0]


def adapt(loss, params, batches, lr):
    return Learner(params, jnp.asarray(lr)).train(loss, batches).params


def meta_loss(loss, params, lr, tasks):
    learner = Learner(params, jnp.asarray(lr))

    def one_task(support, query):
        return loss(learner.train(loss, support).params, query)

    return jax.vmap(one_task)(tasks["support"], tasks["query"]).mean()


def meta_grads(loss, params, lr, tasks):
    value, grads = jax.value_and_grad(lambda me: meta_loss(loss, me.params, me.lr, tasks))(
        Learner(params, lr)
    )
    return value, (grads.params, grads.lr)
