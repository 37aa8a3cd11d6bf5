import jax.numpy as jnp


def zero_block(x, i, j):
    return x.at[i:j].set(0)


def scatter_add(x, idx, v):
    return x.at[idx].add(v)


def swap(x, i, j):
    # The first update leaves x alone, so x[i] is still the old row. PyTorch needs a
    # copy here, because its first write has changed what the second one reads.
    return x.at[i].set(x[j]).at[j].set(x[i])


def sweep(f, x):
    for i in range(1, len(x)):
        x = x.at[i].set(f(x[i - 1], x[i]))
    return x
