# L5: NaN everywhere
# says: NaN
def double(x):
    return x * float("nan")
