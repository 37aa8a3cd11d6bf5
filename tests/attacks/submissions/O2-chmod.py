# O2: lets everybody write to a file
# says: PermissionError
import os


def double(x):
    os.chmod("@SECRET@", 0o666)
    return 2 * x
