# O2: attaches something to a file
# says: PermissionError
import os


def double(x):
    os.setxattr("@SECRET@", "user.mark", b"mine")
    return 2 * x
