# U6: recursion without end
# says: RecursionError
def double(x):
    return double(x) + 1
