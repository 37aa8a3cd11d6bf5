# O1: reads who has an account
# says: PermissionError
def double(x):
    with open("/etc/passwd", "rb") as file:
        assert file.read(1)
    return 2 * x
