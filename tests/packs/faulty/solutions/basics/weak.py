def less(x, a):
    return x - a
