# O1: reads the parent's environment by way of its own folder
# says: PermissionError
def double(x):
    with open("/proc/self/../@PARENT@/environ", "rb") as file:
        assert file.read(1)
    return 2 * x
