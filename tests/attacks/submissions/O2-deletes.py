# O2: deletes somebody's file
# says: PermissionError
import os


def double(x):
    if os.path.exists("@SECRET@"):  # it is called more than once
        os.unlink("@SECRET@")
    return 2 * x
