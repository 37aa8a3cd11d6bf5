# O5: writes a program and becomes it
# says: PermissionError
import os


def double(x):
    with open("program", "w") as file:
        file.write("#!/bin/sh\n")
    os.execv("program", ["program"])
    return 2 * x
