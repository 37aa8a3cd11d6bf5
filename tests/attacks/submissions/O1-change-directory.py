# O1: goes there and reads it by its name alone
# says: PermissionError
import os


def double(x):
    folder, name = os.path.split("@SECRET@")
    os.chdir(folder)
    with open(name) as file:
        assert file.read()
    return 2 * x
