import jax
import jax.numpy as jnp


def dropout(key, x, p, training):
    """x of any shape, p in [0, 1), training: a bool -> like x."""
    if not training:
        return x
    kept = jax.random.bernoulli(key, 1 - p, x.shape)
    return jnp.where(kept, x / (1 - p), 0)


def drop_layers(key, layers, p):
    """A list of arrays -> a list of arrays of the same shapes."""
    keys = jax.random.split(key, len(layers))
    return [dropout(k, h, p, True) for k, h in zip(keys, layers)]
