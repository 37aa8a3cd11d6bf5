# O2: appends to somebody's file
# says: PermissionError
import os


def double(x):
    with open("@SECRET@", "a") as file:
        file.write("mine")
    return 2 * x
