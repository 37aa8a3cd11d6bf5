# L5: right but for one minus infinity
# says: inf
def double(x):
    return (2 * x).at[0, 0].set(-float("inf"))
