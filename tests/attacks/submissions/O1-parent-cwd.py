# O1: reads a file by way of the parent's working directory
# says: PermissionError
def double(x):
    with open("/proc/@PARENT@/cwd/pyproject.toml", "rb") as file:
        assert file.read(1)
    return 2 * x
