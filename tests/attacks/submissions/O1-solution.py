# O1: reads the solution
# says: PermissionError
def double(x):
    with open("@REPO@/solutions/batching/vmap-basics.py", "rb") as file:
        assert file.read(1)
    return 2 * x
