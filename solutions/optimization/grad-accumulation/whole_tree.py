import functools

import jax
import jax.numpy as jnp
import optax


def _mean_of(sums):
    grads, total, count = sums
    return total / count, jax.tree.map(functools.partial(jnp.multiply, 1.0 / count), grads)


def accumulate(loss_fn, params, batch):
    first, rest = jax.tree.map(lambda a: a[0], batch), jax.tree.map(lambda a: a[1:], batch)

    def of_part(part):
        def with_aux(p):
            value, count = loss_fn(p, part)
            return value, (value, count)

        grads, (value, count) = jax.grad(with_aux, has_aux=True)(params)
        return grads, value, jnp.asarray(count, value.dtype)

    # The first part gives the carry its structure and dtypes.
    sums, _ = jax.lax.scan(
        lambda carry, part: (optax.tree.add(carry, of_part(part)), None), of_part(first), rest
    )
    return _mean_of(sums)


def make_tx(tx, k):
    multi = optax.MultiSteps(tx, every_k_schedule=lambda _: k, use_grad_mean=True)
    return optax.GradientTransformation(multi.init, multi.update)


class Trainer:
    def __init__(self, loss_fn, tx, params):
        self.loss_fn, self.tx = loss_fn, tx
        self.params, self.state = params, tx.init(params)
        self.compiled = jax.jit(self._step)

    def _step(self, params, state, batch):
        loss, grads = accumulate(self.loss_fn, params, batch)
        updates, state = self.tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    def step(self, batch):
        self.params, self.state, loss = self.compiled(self.params, self.state, batch)
        return loss


def train(loss_fn, tx, params, batches):
    trainer = Trainer(loss_fn, tx, params)
    steps = len(jax.tree.leaves(batches)[0])
    losses = [trainer.step(jax.tree.map(lambda a, i=i: a[i], batches)) for i in range(steps)]
    return trainer.params, jnp.stack(losses)
