# O4: signals its group
# says: PermissionError
import os


def double(x):
    os.kill(0, 0)
    return 2 * x
