# O5: writes a program and becomes it
# says: PermissionError
import os


def double(x):
    with open("program", "w", opener=lambda *how: os.open(*how, 0o755)) as file:
        file.write("#!/bin/sh\n")
    os.execv("program", ["program"])
    return 2 * x
