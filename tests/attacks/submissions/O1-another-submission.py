# O1: reads another submission
# says: PermissionError
def double(x):
    with open("@OTHER@", "rb") as file:
        assert file.read(1)
    return 2 * x
