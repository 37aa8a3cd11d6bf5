# O1: reads the passwords of the machine
# says: PermissionError
def double(x):
    with open("/etc/shadow", "rb") as file:
        assert file.read(1)
    return 2 * x
