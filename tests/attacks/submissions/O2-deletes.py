# O2: deletes somebody's file
# says: PermissionError
import os


def double(x):
    os.unlink("@SECRET@")
    return 2 * x
