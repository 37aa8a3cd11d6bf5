# O1: reads a file by way of its own root
# says: PermissionError
def double(x):
    with open("/proc/self/root@SECRET@", "rb") as file:
        assert file.read(1)
    return 2 * x
