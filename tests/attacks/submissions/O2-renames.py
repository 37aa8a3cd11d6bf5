# O2: renames somebody's file
# says: PermissionError
import os


def double(x):
    if not os.path.lexists("@OUTSIDE@"):  # it is called more than once
        os.rename("@SECRET@", "@OUTSIDE@")
    return 2 * x
