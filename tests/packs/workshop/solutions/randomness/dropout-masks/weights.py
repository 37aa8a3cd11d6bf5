import jax
import jax.numpy as jnp


def weights(key, shape, p):
    """0 or 1 / (1 - p), by chance."""
    return (jax.random.uniform(key, shape) >= p) / (1 - p)


def dropout(key, x, p, training):
    return x * weights(key, jnp.shape(x), p) if training else x


def drop_layers(key, layers, p):
    dropped = []
    for layer in layers:
        key, used = jax.random.split(key)
        dropped.append(layer * weights(used, layer.shape, p))
    return dropped
