# O2: writes over somebody's file
# says: PermissionError
import os


def double(x):
    with open("@SECRET@", "w") as file:
        file.write("mine")
    return 2 * x
