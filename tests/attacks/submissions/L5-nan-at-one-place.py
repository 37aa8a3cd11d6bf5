# L5: right but for one NaN
# says: NaN
def double(x):
    return (2 * x).at[1, 1].set(float("nan"))
