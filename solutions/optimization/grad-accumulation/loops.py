import jax
import jax.numpy as jnp
import optax


def number_of_parts(batch):
    return jax.tree_util.tree_leaves(batch)[0].shape[0]


@jax.jit
def _add(a, b):
    return jax.tree_util.tree_map(lambda x, y: x + y, a, b)


def accumulate(loss_fn, params, batch):
    grad_fn = jax.grad(loss_fn, has_aux=True)

    def body(i, carry):
        total, count, grads = carry
        part = jax.tree_util.tree_map(
            lambda a: jax.lax.dynamic_index_in_dim(a, i, keepdims=False), batch
        )
        part_loss, _ = loss_fn(params, part)
        part_grads, part_count = grad_fn(params, part)
        return total + part_loss, count + part_count, _add(grads, part_grads)

    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    total, count, grads = jax.lax.fori_loop(0, number_of_parts(batch), body, (0.0, 0.0, zeros))
    return total / count, jax.tree_util.tree_map(lambda g: g / count, grads)


def make_tx(tx, k):
    return optax.MultiSteps(tx, k, use_grad_mean=True).gradient_transformation()


def train(loss_fn, tx, params, batches):
    opt_state = tx.init(params)
    losses = []

    @jax.jit
    def train_step(params, opt_state, batch):
        loss, grads = accumulate(loss_fn, params, batch)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    leaves, structure = jax.tree_util.tree_flatten(batches)
    for arrays in zip(*leaves, strict=True):
        batch = jax.tree_util.tree_unflatten(structure, arrays)
        params, opt_state, loss = train_step(params, opt_state, batch)
        losses.append(loss)
    return params, jnp.array(losses)
