# O1: reads a file by way of the parent's root
# says: PermissionError
def double(x):
    with open("/proc/@PARENT@/root@SECRET@", "rb") as file:
        assert file.read(1)
    return 2 * x
