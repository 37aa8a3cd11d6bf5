import jax.numpy as jnp


def standardize(x):
    distances = x - x.mean()
    return distances / jnp.sqrt((distances**2).sum() / (len(x) - 1))


def columns(x):
    return jnp.stack([standardize(column) for column in x.T], axis=1)
