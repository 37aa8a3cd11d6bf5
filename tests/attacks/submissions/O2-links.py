# O2: makes a link outside
# says: PermissionError
import os


def double(x):
    if not os.path.lexists("@OUTSIDE@"):  # it is called more than once
        os.symlink("/", "@OUTSIDE@")
    return 2 * x
