# O2: makes a folder outside
# says: PermissionError
import os


def double(x):
    if not os.path.lexists("@OUTSIDE@"):  # it is called more than once
        os.mkdir("@OUTSIDE@")
    return 2 * x
