from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("p", "training"))
def dropout(key, x, p, training):
    if training:
        rate = jnp.float32(1) - p
        x *= jnp.floor(jax.random.uniform(key, x.shape) + rate) / rate
    return x


def drop_layers(key, layers, p):
    return [dropout(jax.random.fold_in(key, i), h, p, True) for i, h in enumerate(layers)]
