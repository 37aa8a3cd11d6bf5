# O2: changes when a file was written
# says: PermissionError
import os


def double(x):
    os.utime("@SECRET@", (0, 0))
    return 2 * x
