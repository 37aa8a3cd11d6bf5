# O2: makes a folder outside
# says: PermissionError
import os


def double(x):
    os.mkdir("@OUTSIDE@")
    return 2 * x
