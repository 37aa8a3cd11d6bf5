import jax


def noise(key, n):
    return jax.random.normal(key, n)
