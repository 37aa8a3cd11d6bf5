# O2: renames somebody's file
# says: PermissionError
import os


def double(x):
    os.rename("@SECRET@", "@OUTSIDE@")
    return 2 * x
