"""Plain Python loops around `.at`, a temporary row as in PyTorch, and recursion."""


def zero_block(x, i, j):
    for row in range(i, j):
        x = x.at[row].set(0)
    return x


def scatter_add(x, idx, v):
    out = x
    for k in range(idx.shape[0]):
        out = out.at[idx[k]].add(v[k])
    return out


def swap(x, i, j):
    row = x[i]
    x = x.at[i].set(x[j])
    x = x.at[j].set(row)
    return x


def sweep(f, x, i=1):
    if i >= len(x):
        return x
    return sweep(f, x.at[i].set(f(x[i - 1], x[i])), i + 1)
