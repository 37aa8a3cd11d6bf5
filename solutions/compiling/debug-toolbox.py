import jax
import jax.numpy as jnp
from jax.experimental import checkify


def mean_log(p, weight):
    # The inner where keeps the 0 from log, for the sake of the gradient; behind
    # the log it would be too late, because 0 times infinity is NaN.
    used = weight > 0
    return jnp.where(used, jnp.log(jnp.where(used, p, 1.0)), 0.0) @ weight / weight.sum()


def mse(prediction, target):
    return jnp.mean((prediction[:, 0] - target) ** 2)


@jax.jit
def mean_until(x, n):
    return jnp.where(jnp.arange(len(x)) < n, x, 0.0).sum() / n


def checked_log(x):
    def log(x):
        checkify.check(jnp.all(x > 0), "x must be > 0, got {low}", low=x.min())
        return jnp.log(x)

    return checkify.checkify(log)(x)
