import jax
import jax.numpy as jnp


@jax.custom_vjp
def codes(x):
    return jnp.sign(x)


def codes_fwd(x):
    return jnp.sign(x), x


def codes_bwd(x, ct):
    length = jnp.sqrt(jnp.einsum("nd,nd->n", x, x))
    inverse = jnp.where(length > 0, 1 / jnp.where(length > 0, length, 1), 0)[:, None]
    unit = x * inverse
    return ((ct - unit * (unit * ct).sum(-1, keepdims=True)) * inverse,)


codes.defvjp(codes_fwd, codes_bwd)


def along(f, params, direction):
    # Forward over reverse: a Hessian-vector product, then a dot product.
    (loss, metrics), grads = jax.value_and_grad(f, has_aux=True)(params)
    gradient = jax.grad(lambda p: f(p)[0])
    _, product = jax.jvp(gradient, (params,), (direction,))

    def dot(a, b):
        return sum(jnp.vdot(p, q) for p, q in zip(jax.tree.leaves(a), jax.tree.leaves(b)))

    return loss, dot(grads, direction), dot(product, direction), metrics


def influence(loss, score, params, weights, batches, lr):
    def trained(weights):
        def step(carry, xs):
            gradient = jax.grad(loss)(carry, *xs)
            moved = [p - lr * g for p, g in zip(jax.tree.leaves(carry), jax.tree.leaves(gradient))]
            return jax.tree.unflatten(jax.tree.structure(carry), moved), ()

        return jax.lax.scan(step, params, (batches, weights))[0]

    value = score(trained(weights))
    return value, jax.grad(lambda w: score(trained(w)))(weights)
