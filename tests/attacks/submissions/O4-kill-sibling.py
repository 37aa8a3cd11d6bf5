# O4: ends another process
# says: PermissionError
import os


def double(x):
    os.kill(@SIBLING@, 9)
    return 2 * x
