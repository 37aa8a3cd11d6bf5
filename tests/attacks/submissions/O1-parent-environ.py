# O1: reads the parent's environment
# says: PermissionError
def double(x):
    with open("/proc/@PARENT@/environ", "rb") as file:
        assert file.read(1)
    return 2 * x
