import jax


def add_noise(key, x):
    return x + 0.1 * jax.random.normal(key, x.shape)


# A function that draws splits its own key. One that only calls others, as init_mlp, splits it for
# them: so each function can be read, and tried, on its own.
def make_linear(key, n_in, n_out):
    w_key, b_key = jax.random.split(key)
    bound = 1 / n_in**0.5

    return {
        "w": jax.random.uniform(w_key, (n_in, n_out), minval=-bound, maxval=bound),
        "b": jax.random.uniform(b_key, (n_out,), minval=-bound, maxval=bound),
    }


def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [make_linear(k, i, o) for k, i, o in zip(keys, sizes, sizes[1:])]
