# O1: reads where the parent's memory lies
# says: PermissionError
def double(x):
    with open("/proc/@PARENT@/maps", "rb") as file:
        assert file.read(1)
    return 2 * x
