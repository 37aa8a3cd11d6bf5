# O4: signals the process that judges it (0: may I?)
# says: PermissionError
import os


def double(x):
    os.kill(@PARENT@, 0)
    return 2 * x
