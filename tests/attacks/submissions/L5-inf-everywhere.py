# L5: infinity everywhere
# says: inf
def double(x):
    return x * 0 + float("inf")
