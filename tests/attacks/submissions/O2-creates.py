# O2: writes outside its folder
# says: PermissionError
import os


def double(x):
    with open("@OUTSIDE@", "w") as file:
        file.write("here")
    return 2 * x
