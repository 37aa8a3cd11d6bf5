# O2: makes a temporary file with no name outside
# says: PermissionError
import os


def double(x):
    os.open(os.path.dirname("@SECRET@"), os.O_TMPFILE | os.O_WRONLY)
    return 2 * x
