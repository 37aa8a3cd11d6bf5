# O6: leaves the group that is killed at the end
# says: PermissionError
import os


def double(x):
    os.setpgid(0, 0)
    return 2 * x
