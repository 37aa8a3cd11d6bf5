import jax
import jax.numpy as jnp


# sign(unit) for the value, unit for the gradient. The root never sees the 0 of a row of zeros, at
# which its slope is infinite, and the second where cuts the slope of the quotient there.
def codes(x):
    squares = (x**2).sum(axis=1, keepdims=True)
    lengths = jnp.sqrt(jnp.where(squares > 0, squares, 1.0))
    unit = jnp.where(squares > 0, x / lengths, 0.0)
    return unit + jax.lax.stop_gradient(jnp.sign(unit) - unit)


# A function of one number: both derivatives cost a few evaluations, whatever the number of params.
def along(f, params, direction):
    def line(t):
        return f(jax.tree.map(lambda p, d: p + t * d, params, direction))

    (loss, metrics), slope = jax.value_and_grad(line, has_aux=True)(0.0)
    slopes = jax.grad(line, has_aux=True)
    curvature, _ = jax.grad(slopes, has_aux=True)(0.0)
    return loss, slope, curvature, metrics


def influence(loss, score, params, weights, batches, lr):
    def step(params, batch_and_weights):
        batch, w = batch_and_weights
        grads = jax.grad(loss)(params, batch, w)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), None

    def trained_score(weights):
        final, _ = jax.lax.scan(step, params, (batches, weights))
        return score(final)

    return jax.value_and_grad(trained_score)(weights)
