# O1: reads a private key
# says: PermissionError
def double(x):
    with open("@KEY@", "rb") as file:
        assert file.read(1)
    return 2 * x
