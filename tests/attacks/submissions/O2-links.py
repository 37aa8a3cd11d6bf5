# O2: makes a link outside
# says: PermissionError
import os


def double(x):
    os.symlink("/", "@OUTSIDE@")
    return 2 * x
