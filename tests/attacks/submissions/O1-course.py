# O1: reads a lesson of the course
# says: PermissionError
def double(x):
    with open("@REPO@/lessons/batching/vmap-basics.yaml", "rb") as file:
        assert file.read(1)
    return 2 * x
