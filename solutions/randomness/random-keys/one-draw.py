"""One draw per layer, split into weights and biases; layers made by recursion."""

import jax


def make_linear(key, n_in, n_out):
    bound = n_in**-0.5
    table = jax.random.uniform(key, (n_in + 1, n_out), minval=-bound, maxval=bound)
    return {"w": table[:-1], "b": table[-1]}


def init_mlp(key, sizes):
    if len(sizes) < 2:
        return []
    first, rest = jax.random.split(key)
    return [make_linear(first, sizes[0], sizes[1]), *init_mlp(rest, sizes[1:])]


def add_noise(key, x):
    def step(key, row):
        key, subkey = jax.random.split(key)
        return key, row + 0.1 * jax.random.normal(subkey, row.shape)

    return jax.lax.scan(step, key, x)[1]
