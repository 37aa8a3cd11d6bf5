# O1: reads what is attached to a file that it may not read
# says: PermissionError
import os


def double(x):
    os.listxattr("@SECRET@")
    return 2 * x
