"""Plain Python loops around `.at`, and a Boolean mask."""


def zero_block(x, i, j):
    for row in range(i, j):
        x = x.at[row].set(0)
    return x


def scatter_add(x, idx, v):
    out = x
    for k in range(idx.shape[0]):
        out = out.at[idx[k]].add(v[k])
    return out


def relu(x):
    return x.at[x < 0].set(0)
