# O1: reads somebody's file
# says: PermissionError
def double(x):
    with open("@SECRET@") as file:
        assert file.read()
    return 2 * x
