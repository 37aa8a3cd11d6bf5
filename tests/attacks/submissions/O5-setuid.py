# O5: becomes a program that runs as its owner
# says: PermissionError
import os


def double(x):
    os.execv("/usr/bin/passwd", ["passwd", "--help"])
    return 2 * x
