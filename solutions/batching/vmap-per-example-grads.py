"""Each step is a function of one example that `vmap` maps: `grad`, the squares, the clipping. The
sum over the batch comes last, so everything before it still knows the examples apart."""

import jax
import jax.numpy as jnp


def example_grads(loss, params, xs, ys):
    return jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(params, xs, ys)


def norms(grads):
    def squared(one):
        return jnp.sum(one**2)

    squares = jax.tree.map(lambda g: jax.vmap(squared)(g), grads)
    return jnp.sqrt(sum(jax.tree.leaves(squares)))


def clipped_grad(loss, params, xs, ys, limit):
    def clip(grad, norm):
        scale = jnp.minimum(1, limit / norm)
        return jax.tree.map(lambda g: scale * g, grad)

    grads = example_grads(loss, params, xs, ys)
    clipped = jax.vmap(clip)(grads, norms(grads))
    return jax.tree.map(lambda g: g.mean(axis=0), clipped)
